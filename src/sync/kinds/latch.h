#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/calls/answers.h"
#include "sync/calls/claim.h"
#include "sync/calls/line.h"
#include "sync/calls/lockable.h"
#include "sync/calls/pub_sub.h"
#include "sync/calls/values.h"

namespace rlock {

/// rlock's record of a latch. Redisson deletes a latch that reaches zero, so without a record "opened" and
/// "never set" would look alike.
struct LatchRecord {
  std::optional<std::int64_t> total{};
  std::optional<ServerTime> set{};
  std::optional<ServerTime> opened{};
};

/// How long the record of a latch stays after the latch was set or opened.
constexpr Milliseconds kRecordStays = std::chrono::hours{24};

/// The field of rlock:meta with the record of a latch; the other fields are owners.
constexpr std::string_view kLatchField = "latch";

/// Empty: the text is no record of lua/latch/record.
std::optional<LatchRecord> parse_latch_record(std::string_view text);

/// The operations on Redisson's RCountDownLatch. An immutable value. One Latch is one request: each call may
/// be sent twice and is done once.
class Latch {
 public:
  Latch(LockName name, PubSub pub_sub);

  /// Send each call with the matching record call below as its follower. If the follower fails, the operation
  /// still counts.
  Call set(std::int64_t total, Milliseconds expire) const;
  Call down(std::int64_t count) const;
  CounterAnswer read_down(const Reply& reply) const;
  Call remove() const;

  Call write_set(std::int64_t total) const { return write_record(std::to_string(total)); }
  Call write_down() const { return write_record(""); }
  Call erase_record() const;

  Call status() const;
  /// The answer to set, remove or status. `count`, also of read_down(): how often the latch must still be counted down;
  /// 0 or less: it is open.
  CounterAnswer read(const Reply& reply) const;

  Call record() const;
  std::optional<LatchRecord> read_record(const Reply& reply) const;  ///< an error reply is no record

 private:
  Call call(const Script& script, Values more = {}) const;
  Call write_record(std::string total) const;

  LockName name_;
  PubSub pub_sub_;
  std::string request_;
};

/// Waits for a latch to open or to be set; then the answer is Held. An immutable value. One announcement
/// tells all waiters. A waiter has a place in the line only so that others can see it.
class LatchWait final : public Waitable {
 public:
  enum class Until {
    open,  ///< an absent latch counts as open
    set,   ///< ends when the latch is set, or at once if rlock's record says that it was opened before
  };

  /// The owner of the claim is the waiter; the lease is not used.
  LatchWait(Claim claim, Until until);

  std::optional<Call> undo(Wake wake) const override;
  bool takes_place() const override { return line_.takes_place(); }
  std::vector<Channel> channels() const override { return {line_.releases()}; }
  const LockName& name() const override { return claim_.name; }

  /// Where an observer sees that we wait.
  HoldEntry hold_entry() const { return {claim_.name.str(), claim_.owner.str(), line_.waiting()}; }

 private:
  Call encode(Milliseconds waited) const override;
  AcquireAnswer decode(const Reply& reply) const override;

  Claim claim_;
  Until until_;
  Line line_;
};

}  // namespace rlock
