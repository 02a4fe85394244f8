// rlock's holds, made of the classes that rlock itself uses.

#include "hold.h"

#include <algorithm>
#include <stdexcept>

#include "sync_calls.h"

namespace rlock::model {
namespace {

std::shared_ptr<const Lockable> make_lock(const Wanted& wanted, const std::string& key) {
  const Claim claim = claim_of(wanted, key);
  const auto which = wanted.again ? rlock::Hold::inner : rlock::Hold::first;
  constexpr Waitable::Pause kPause{Milliseconds{1}, Milliseconds{500}};
  if (wanted.type == "lock") return std::make_shared<Lock>(claim, which);
  if (wanted.type == "spin") return std::make_shared<SpinLock>(claim, kPause, which);
  if (wanted.type == "fenced") return std::make_shared<FencedLock>(claim, which);
  if (wanted.type == "fair") return std::make_shared<FairLock>(claim, IfBusy::place, which);
  if (wanted.type == "read") return std::make_shared<ReadLock>(claim, which);
  if (wanted.type == "write") return std::make_shared<WriteLock>(claim, which);
  if (wanted.type == "plain") return std::make_shared<PlainLock>(claim, kPause, which);
  if (wanted.type == "permit")
    return std::make_shared<PermitLock>(claim, PermitLock::Wanted{.count = wanted.count, .total = kPool},
                                        which);
  throw std::invalid_argument{"no type " + wanted.type};
}

class OfRlock final : public Hold {
 public:
  explicit OfRlock(const Wanted& wanted) : wanted_(wanted) {
    if (wanted.newest) arrival_ = arrival_of(wanted);
    for (const std::string& key : wanted.keys) {
      const auto lock = make_lock(wanted, key);
      parts_.push_back(wanted.once ? once_per(lock) : lock);
    }
    std::vector<const Lockable*> members;
    for (const auto& part : parts_) members.push_back(part.get());
    if (members.size() > 1) together_ = Together::of(members);
  }

  Call ask(std::int64_t waited) const override { return ask_of(what(), waited); }
  Asked read(const Reply& reply) const override { return read_asked(what(), reply); }

  std::optional<Call> arrive() const override {
    return arrival_ ? std::optional{ask_of(*arrival_, 0)} : std::nullopt;
  }
  std::int64_t ticket_in(const Reply& reply) const override {
    return std::get<Held>(arrival_->read(reply)).ticket;
  }
  Call ask_with(std::int64_t ticket, std::int64_t waited) const override {
    if (ticket == 0) return ask(waited);
    Wanted wanted = wanted_;
    wanted.ticket = ticket;
    return ask_of(*make_lock(wanted, wanted.keys.front()), waited);
  }

  std::vector<Call> renew() const override {
    std::vector<Call> calls;
    for (const auto& part : parts_) calls.push_back(part->renew());
    return calls;
  }

  std::vector<Call> release(std::int64_t keep_until) const override {
    std::optional<ServerTime> until;
    if (keep_until > 0) until = ServerTime{Milliseconds{keep_until}};
    std::vector<Call> calls;
    for (const auto& part : parts_) calls.push_back(part->release({.keep_until = until}));
    return calls;
  }

  std::vector<Call> undo() const override {
    std::vector<Call> calls;
    for (const auto& part : parts_)
      if (auto call = undo_of(*part)) calls.push_back(*std::move(call));
    return calls;
  }

  bool renewed(std::size_t part, const Reply& reply) const override {
    return read_renewed(*parts_[part], reply);
  }

  Freed freed(std::size_t part, const Reply& reply) const override {
    const auto released = read_released(*parts_[part], reply);
    if (!released) return {};
    Freed freed{.how = Freed::How::done, .then = released->then};
    if (released->how == Released::How::not_ours) freed.how = Freed::How::not_ours;
    if (released->how == Released::How::still_held) freed.how = Freed::How::still_held;
    if (released->how == Released::How::kept) freed.how = Freed::How::kept;
    return freed;
  }

  bool takes_place() const override { return what().takes_place(); }

  std::vector<std::string> channels(const Busy& busy) const override {
    std::vector<std::string> names;
    for (const Channel& channel : channels_of(what(), busy)) names.push_back(channel.str());
    std::ranges::sort(names);
    return names;
  }

  Heard hear(const std::string& channel, const std::optional<std::string>& text, Busy& busy) const override {
    return hear_as(what(), channel, text, busy);
  }

  /// Like src/sync/wait/pacing.cpp, but without jitter.
  std::int64_t sleeps(const Busy& busy) const override {
    constexpr std::int64_t kPastTtl = 2;
    const std::int64_t nap = what().channels().empty() ? what().pause().most.count() : poll_of(what(), busy);
    return busy.retry_after ? std::min(nap, busy.retry_after->count() + kPastTtl) : nap;
  }

  bool listens_while_held() const override { return silent_while_held(what()); }

  std::vector<Place> places() const override {
    std::vector<Place> places;
    for (const auto& part : parts_) places.push_back({part->hold_entry().key, part->hold_entry().member});
    return places;
  }

  bool is_ours() const override { return true; }

 private:
  const Waitable& what() const {
    return together_ ? static_cast<const Waitable&>(*together_) : *parts_.front();
  }

  Wanted wanted_;
  std::shared_ptr<const Waitable> arrival_;
  std::vector<std::shared_ptr<const Lockable>> parts_;
  std::optional<Together> together_;
};

}  // namespace

std::shared_ptr<const Hold> make_hold(const Wanted& wanted) {
  if (auto counter = make_counter(wanted)) return counter;
  return std::make_shared<OfRlock>(wanted);
}

Call whether_done(const std::string& key) { return ask_whether_done(LockName{key}); }

bool is_done(const Reply& reply) { return reads_done(reply); }

std::vector<std::string> keys_of_waiters(const std::string& key) { return waiting_keys(LockName{key}); }

}  // namespace rlock::model
