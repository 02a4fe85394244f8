#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/server/session.h"
#include "cmd/view/wait_text.h"
#include "sync/wait/acquire_options.h"
#include "sync/watch/inquiry.h"

namespace rlock {

class WaitObserver;

/// An inquiry about the holder may take this long. With -w 2s, the undo and the last line are done within 3 s.
constexpr Milliseconds kInquiry{250};

/// The keys that rlock waits for, and since when.
struct WaitSubject {
  TimePoint started;  ///< start of rlock
  const WaitOptions& wait;
  std::vector<LockName> names;
  std::string state{};               ///< why it is busy, if it has no single holder: "it has too few permits"
  bool is_pool = false;              ///< the key is a pool of permits
  WaitObserver* observer = nullptr;  ///< may be null
};

/// What rlock knows of the lock that it waits for, and of the server: the last answer to the wait, and what an inquiry
/// has shown. It has texts of both for the lines about the wait.
class WaitNews {
 public:
  /// `begun`: from here on a server was asked. REQUIRES: session and subject outlive it.
  WaitNews(Session& session, const WaitSubject& subject, TimePoint begun);

  void take(const Waiting& waiting);  ///< the last answer
  void take(const GaveUp& gave_up);   ///< the last answer of a wait that has ended

  /// Begins an inquiry about the holder, unless another one has just begun, or nothing can be asked. What an older
  /// inquiry has shown may be outdated, so ask anew for each line.
  void ask(TimePoint now);
  void advance();  ///< call it after turns of the loop, as long as it asks
  bool asks() const { return inquiry_.under_way(); }
  TimePoint wake_at() const { return inquiry_.wake_at(); }
  void drop() { inquiry_.drop(); }

  /// A line has said what the inquiry has shown. For the next line that is old.
  void grow_old() noexcept { fresh_ = false; }

  /// The last "busy" answer; empty: there was none.
  const std::optional<Busy>& busy() const noexcept { return busy_; }

  /// REQUIRES: busy().
  WaitView view(TimePoint now) const;

  /// Why the server cannot be asked, as far as the newest attempt shows. Empty: it answers.
  std::optional<std::string> trouble(TimePoint now) const;

  /// "waiting for redis at ...", with known_text(). `why`: see trouble().
  std::string server_text(std::string_view why, TimePoint now) const;

  /// The last answer and its age: "; 8.1s ago 'db' was held by ...". Empty: there was none.
  std::string known_text(TimePoint now) const;

 private:
  Session& session_;
  const WaitSubject& subject_;
  TimePoint begun_;
  std::optional<Busy> busy_;
  std::optional<Failure> failure_;  ///< why the server cannot be used now; empty: it can
  bool unconfirmed_ = false;        ///< Waiting::unconfirmed
  std::optional<Channel> channel_;
  Owner asker_;  ///< our owner; empty: the wait has none

  Inquiry inquiry_;
  std::optional<Inspection> seen_;
  std::vector<Owner> above_;  ///< the holders in seen_ that are processes above us
  std::int64_t listeners_ = 0;
  bool fresh_ = false;  ///< seen_ was made for the line that is due
};

}  // namespace rlock
