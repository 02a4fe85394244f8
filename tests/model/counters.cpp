// Clients made from rlock's own classes: for semaphores and latches, which have no holders, and an operator
// that removes a lock.

#include "hold.h"

#include "sync/kinds/latch.h"
#include "sync/kinds/pool.h"
#include "sync/kinds/semaphore.h"
#include "sync_calls.h"

namespace rlock::model {
namespace {

/// Waits for a Waitable that has no owner and no lease.
class Counter : public Hold {
 public:
  Asked read(const Reply& reply) const override { return read_asked(waitable(), reply); }
  Call ask(std::int64_t waited) const override { return ask_of(waitable(), waited); }
  std::vector<Call> renew() const override { return {}; }
  std::vector<Call> release(std::int64_t) const override { return {}; }
  std::vector<Call> undo() const override {
    auto call = waitable().undo(Wake::waiters);
    return call ? std::vector{*std::move(call)} : std::vector<Call>{};
  }
  bool renewed(std::size_t, const Reply&) const override { return false; }
  Freed freed(std::size_t, const Reply&) const override { return {}; }

  bool takes_place() const override { return waitable().takes_place(); }
  std::vector<std::string> channels(const Busy& busy) const override {
    std::vector<std::string> names;
    for (const Channel& channel : channels_of(waitable(), busy)) names.push_back(channel.str());
    return names;
  }
  Heard hear(const std::string& channel, const std::optional<std::string>& text, Busy& busy) const override {
    return hear_as(waitable(), channel, text, busy);
  }
  std::int64_t sleeps(const Busy& busy) const override { return poll_of(waitable(), busy); }
  bool listens_while_held() const override { return false; }

  Ends ends() const override { return Ends::at_once; }
  std::vector<Place> places() const override { return {}; }
  bool is_ours() const override { return true; }

 protected:
  virtual const Waitable& waitable() const = 0;
};

/// One permit of a semaphore. It is returned with another request id, as by `rlock sem release`.
class SemaphoreHold final : public Counter {
 public:
  SemaphoreHold(const LockName& name, const std::string& owner)
      : taking_({.name = name, .owner = Owner{owner}, .if_busy = IfBusy::place}, 1),
        giving_(name, PoolKind::semaphore, PubSub::classic) {}

  std::vector<Call> release(std::int64_t) const override { return {giving_.add(1)}; }
  Freed freed(std::size_t, const Reply& reply) const override {
    const bool done = giving_.read_count(reply).how == CounterAnswer::How::done;
    return {.how = done ? Freed::How::done : Freed::How::failed};
  }
  Ends ends() const override { return Ends::by_release; }

 private:
  const Waitable& waitable() const override { return taking_; }

  Semaphore taking_;
  Pool giving_;
};

/// Waits until a latch is open.
class LatchIsOpen : public Counter {
 public:
  LatchIsOpen(const LockName& name, const std::string& owner)
      : wait_({.name = name, .owner = Owner{owner}, .if_busy = IfBusy::place}, LatchWait::Until::open) {}

 private:
  const Waitable& waitable() const override { return wait_; }

  LatchWait wait_;
};

/// Counts a latch down once. It is never busy, so it waits for nothing.
class CountDown final : public LatchIsOpen {
 public:
  explicit CountDown(const LockName& name) : LatchIsOpen(name, "down:1"), latch_(name, PubSub::classic) {}

  Call ask(std::int64_t) const override { return latch_.down(1); }
  Asked read(const Reply& reply) const override {
    const bool done = latch_.read(reply).how == CounterAnswer::How::done;
    return {.how = done ? Asked::How::held : Asked::How::refused};
  }

 private:
  Latch latch_;
};

/// Removes a lock of any holder, as `rlock unlock` does. It is never busy.
class Force final : public LatchIsOpen {
 public:
  Force(const LockName& name, std::string type)
      : LatchIsOpen(name, "operator:1"), name_(name), type_(std::move(type)) {}

  Call ask(std::int64_t) const override {
    const Owner anybody{""};
    if (type_ == "plain") return PlainLock::force(name_, anybody);
    if (type_ == "read" || type_ == "write") return ReadWriteLock::force(name_, anybody, PubSub::classic);
    return Lock::force(name_, anybody, PubSub::classic);
  }
  Asked read(const Reply& reply) const override {
    const std::string word = reply.at(0).text();
    return {.how = word == "removed" || word == "absent" ? Asked::How::held : Asked::How::refused};
  }
  std::vector<Call> undo() const override { return {}; }
  bool takes_place() const override { return false; }

 private:
  const LockName name_;
  const std::string type_;
};

}  // namespace

std::shared_ptr<const Hold> make_counter(const Wanted& wanted) {
  const LockName name{wanted.keys.front()};
  constexpr std::string_view kForce{"force "};
  if (wanted.type.starts_with(kForce))
    return std::make_shared<Force>(name, wanted.type.substr(kForce.size()));
  if (wanted.type == "semaphore") return std::make_shared<SemaphoreHold>(name, wanted.owner);
  if (wanted.type == "latch") return std::make_shared<LatchIsOpen>(name, wanted.owner);
  if (wanted.type == "down") return std::make_shared<CountDown>(name);
  return nullptr;
}

}  // namespace rlock::model
