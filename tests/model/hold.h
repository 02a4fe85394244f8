#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/call.h"
#include "redis/reply.h"
#include "sync/calls/lockable.h"

namespace rlock::model {

/// The result of an acquire.
struct Asked {
  enum class How { held, busy, superseded, refused, failed } how = How::failed;
  Busy busy{};
  std::vector<std::int64_t> fences{};  ///< for each key, if it has one
};

/// The result of a release.
struct Freed {
  enum class How { done, still_held, kept, not_ours, failed } how = How::failed;
  std::optional<Call> then{};
};

/// What a message means to a waiter.
struct Heard {
  std::optional<std::int64_t> ask_after{};  ///< in ms; empty: it is no reason to ask
  bool not_before = false;                  ///< do not ask earlier, whatever other messages say
  bool moved = false;                       ///< it has another place, perhaps with other channels
};

/// How a hold ends.
enum class Ends {
  with_lease,  ///< with its lease, which is renewed, or by a release
  by_release,  ///< only by a release, because the server does not know the holder
  at_once,     ///< at once, because it was an operation or a wait
};

/// Where the server records a hold.
struct Place {
  std::string key;
  std::string member;
};

/// One hold as its client sees it: its calls, and the meaning of the answers. rlock's holds are its real
/// classes.
class Hold {
 public:
  virtual ~Hold() = default;

  virtual Call ask(std::int64_t waited) const = 0;

  /// With --newest: arrive() is the call before the acquire, ticket_in() reads the ticket in its answer, and ask_with()
  /// is the acquire with this ticket.
  virtual std::optional<Call> arrive() const { return std::nullopt; }
  virtual std::int64_t ticket_in(const Reply&) const { return 0; }
  virtual Call ask_with(std::int64_t, std::int64_t waited) const { return ask(waited); }
  virtual Asked read(const Reply& reply) const = 0;
  virtual std::vector<Call> renew() const = 0;  ///< one call for each key
  /// One call for each key. `keep_until`: the server time until which the key stays (--min-hold); 0: it does not stay.
  virtual std::vector<Call> release(std::int64_t keep_until) const = 0;
  virtual std::vector<Call> undo() const = 0;
  virtual bool renewed(std::size_t part, const Reply& reply) const = 0;
  virtual Freed freed(std::size_t part, const Reply& reply) const = 0;

  virtual bool takes_place() const = 0;  ///< asking leaves a trace even if the answer is "busy"
  virtual std::vector<std::string> channels(const Busy& busy) const = 0;
  virtual Heard hear(const std::string& channel, const std::optional<std::string>& text,
                     Busy& busy) const = 0;
  virtual std::int64_t sleeps(const Busy& busy) const = 0;  ///< ms, if no message comes
  virtual bool listens_while_held() const = 0;

  virtual Ends ends() const { return Ends::with_lease; }
  virtual std::vector<Place> places()
      const = 0;                     ///< one for each key; empty if the server does not know the holder
  virtual bool is_ours() const = 0;  ///< rlock's, and not Redisson's
};

/// The parameters of a hold.
struct Wanted {
  std::string type;
  std::vector<std::string> keys;
  std::string owner;
  std::int64_t lease = 30000;
  bool again = false;    ///< inside a hold of the same owner
  bool returns = false;  ///< the owner may have other holds of the lock before and after this one
  bool once = false;     ///< --once-per
  bool quorum = false;   ///< at one of several servers
  bool newest = false;   ///< --newest, with one key
  std::int64_t ticket = 0;
  std::int64_t count = 1;  ///< permits
  bool classic = false;    ///< Redisson 3.17.7, as far as it differs from 4.7.0
};

std::shared_ptr<const Hold> make_hold(const Wanted& wanted);

/// A hold of a semaphore, an operation on a latch, or "force lock": see counters.cpp. Null: another type.
std::shared_ptr<const Hold> make_counter(const Wanted& wanted);

/// A hold of Redisson, see redisson.cpp.
std::shared_ptr<const Hold> make_redisson_hold(const Wanted& wanted);

/// whether_done() asks whether the work of this key is done, for --once-per; is_done() reads the answer.
Call whether_done(const std::string& key);
bool is_done(const Reply& reply);

/// The names of the keys in which the waiters for this key are recorded.
std::vector<std::string> keys_of_waiters(const std::string& key);

/// The size of every semaphore, pool of permits and latch here.
constexpr std::int64_t kPool = 2;

}  // namespace rlock::model
