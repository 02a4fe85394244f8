#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/call.h"
#include "redis/reply.h"
#include "sync/kinds/lockable.h"

namespace rlock::model {

/// What an acquire came to.
struct Asked {
  enum class How { held, busy, superseded, refused, failed } how = How::failed;
  Busy busy{};
  std::vector<std::int64_t> fences{};  ///< of each key, where it has one
};

/// What a release came to.
struct Freed {
  enum class How { done, still_held, kept, not_ours, failed } how = How::failed;
  std::optional<Call> then{};
};

/// What a message means to a waiter.
struct Heard {
  std::optional<std::int64_t> ask_after{};  ///< ms
  bool not_before = false;                  ///< whatever else was heard
  bool moved = false;                       ///< it has another place, where it may listen to other channels
};

/// How a hold ends.
enum class Ends {
  with_lease,  ///< which is renewed, or by a release
  by_release,  ///< only: the server does not know who holds
  at_once,     ///< it was an operation that is done, or a wait that is over
};

/// Where it stands on the server that somebody holds.
struct Place {
  std::string key;
  std::string member;
};

/// One hold as its client sees it: what it sends, and what the answers mean. Those of rlock are its real
/// classes.
class Hold {
 public:
  virtual ~Hold() = default;

  virtual Call ask(std::int64_t waited) const = 0;

  /// With --newest: what it sends before, its ticket in the answer, and what it asks then.
  virtual std::optional<Call> arrive() const { return std::nullopt; }
  virtual std::int64_t ticket_in(const Reply&) const { return 0; }
  virtual Call ask_with(std::int64_t, std::int64_t waited) const { return ask(waited); }
  virtual Asked read(const Reply& reply) const = 0;
  virtual std::vector<Call> renew() const = 0;  ///< of each key
  /// Of each key. `keep_until`: server time before which it stays (--min-hold); 0: it need not.
  virtual std::vector<Call> release(std::int64_t keep_until) const = 0;
  virtual std::vector<Call> undo() const = 0;
  virtual bool renewed(std::size_t part, const Reply& reply) const = 0;
  virtual Freed freed(std::size_t part, const Reply& reply) const = 0;

  virtual bool queues() const = 0;  ///< asking leaves a trace even when it is busy
  virtual std::vector<std::string> channels(const Busy& busy) const = 0;
  virtual Heard hear(const std::string& channel, const std::optional<std::string>& text,
                     Busy& busy) const = 0;
  virtual std::int64_t sleeps(const Busy& busy) const = 0;  ///< ms, when no message comes
  virtual bool listens_while_held() const = 0;

  virtual Ends ends() const { return Ends::with_lease; }
  virtual std::vector<Place> places()
      const = 0;                     ///< of each key; none where the server does not know who holds
  virtual bool is_ours() const = 0;  ///< rlock's, and not Redisson's
};

/// What a hold is made from.
struct Wanted {
  std::string type;
  std::vector<std::string> keys;
  std::string owner;
  std::int64_t lease = 30000;
  bool again = false;    ///< inside a hold that the owner has
  bool returns = false;  ///< the owner may have the lock before and after
  bool once = false;     ///< --once-per
  bool quorum = false;   ///< at one of several servers
  bool newest = false;   ///< --newest, of one key
  std::int64_t ticket = 0;
};

std::shared_ptr<const Hold> make_hold(const Wanted& wanted);

/// Of a semaphore, or an operation on a latch: see counters.cpp. Nothing: another type.
std::shared_ptr<const Hold> make_counter(const Wanted& wanted);

/// Redisson's, see redisson.cpp.
std::shared_ptr<const Hold> make_redisson_hold(const Wanted& wanted);

/// Whose rules these are: "today".
const char* rules();

/// Over several servers, who stays the same owner: does it ask a node only when its undo was answered there?
bool waits_for_undo();

/// Asks whether somebody has done the work of this key, for --once-per; and reads the answer.
Call whether_done(const std::string& key);
bool is_done(const Reply& reply);

/// Of a key: where its clients wait.
std::vector<std::string> keys_of_waiters(const std::string& key);

/// The size of every semaphore and pool of permits here, and of every latch.
constexpr std::int64_t kPool = 2;

}  // namespace rlock::model
