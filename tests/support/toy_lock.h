#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sync/calls/lockable.h"
#include "sync/wait/acquire_request.h"

namespace rlock::test {

inline constexpr Script kAcquire{"toy/acquire", "0", ""};
inline constexpr Script kRelease{"toy/release", "0", ""};
inline constexpr Script kRenew{"toy/renew", "0", ""};
inline constexpr Script kStillOurs{"toy/still_ours", "0", ""};
inline constexpr Script kSecond{"toy/second", "0", ""};

inline const Reply kHeld{1};
inline const Reply kBusy{0};
inline const Reply kForeign{-1};
inline const Reply kDone{std::string{"renewed"}};
inline const Reply kGone{std::string{"not_ours"}};
inline const Reply kFree{std::string{"released"}};
inline const Reply kFreeForNobody{std::string{"released, and nobody could be told"}};
inline const Reply kKept{std::string{"kept"}};                 ///< for half a second
inline const Reply kInside{std::string{"not yet, and more"}};  ///< held on; a second call must be sent

/// A lock that a test answers for: the reply 1 means that it is held, and 0 that it is busy. Any other reply to an
/// acquire means that the key has another type.
class Toy : public Lockable {
 public:
  explicit Toy(std::string name, bool queues = false, std::string owner = "o:1")
      : name_(std::move(name)), owner_(std::move(owner)), queues_(queues) {}

  Call encode(Milliseconds waited) const override {
    waits_.push_back(waited);
    return call(kAcquire);
  }
  AcquireAnswer decode(const Reply& reply) const override {
    if (reply.integer() == 1) return Held{};
    if (reply.integer() == 0)
      return Busy{.retry_after = Milliseconds{1}, .no_ttl = false, .position = {}, .waiters = {}, .key = {}};
    return Refused{Refused::Why::wrong_type, "a toy of another kind"};
  }
  bool takes_place() const override { return queues_; }
  std::vector<Channel> channels() const override { return {Channel{"wake:" + name_.str()}}; }
  const LockName& name() const override { return name_; }
  const Owner& owner() const override { return owner_; }
  Call renew() const override { return call(kRenew); }
  Call still_ours(Milliseconds rest) const override {
    rests_.push_back(rest);
    return call(kStillOurs);
  }
  Call release(const ReleaseOptions&) const override { return call(kRelease); }
  Released decode_release(const Reply& reply) const override {
    const std::string word = reply.kind() == Reply::Kind::text ? reply.text() : "";
    if (word == kGone.text()) return {.how = Released::How::not_ours};
    if (word == kKept.text()) return {.how = Released::How::kept, .rest = Milliseconds{500}};
    if (word == kFreeForNobody.text()) return {.unannounced = "no channel"};
    if (word == kInside.text()) return {.how = Released::How::still_held, .then = call(kSecond)};
    return {};
  }
  HoldEntry hold_entry() const override { return {name_.str(), owner_.str()}; }

  /// The `waited` of each ask(), and the `rest` of each still_ours().
  const std::vector<Milliseconds>& waits() const { return waits_; }
  const std::vector<Milliseconds>& rests() const { return rests_; }

 private:
  Call call(const Script& script) const {
    Call call;
    call.script = &script;
    call.keys = {name_.str()};
    return call;
  }
  const LockName name_;
  const Owner owner_;
  const bool queues_;
  mutable std::vector<Milliseconds> waits_, rests_;
};

inline const Toy kToy{"k"};

/// A part that does not own its lock. REQUIRES: the lock outlives it.
inline Part part_of(const Lockable& lock) { return {.lock = {std::shared_ptr<const Lockable>{}, &lock}}; }

}  // namespace rlock::test
