#include "cmd/lock_types.h"

#include <array>

#include "sync/fair.h"
#include "sync/lock.h"

namespace rlock {
namespace {

Lock::Hold hold_of(const Wanted& wanted) { return wanted.again ? Lock::Hold::another : Lock::Hold::first; }

std::unique_ptr<Lockable> make_lock(const Wanted& wanted) {
  return std::make_unique<Lock>(wanted.claim, hold_of(wanted));
}

std::unique_ptr<Lockable> make_fair(const Wanted& wanted) {
  const auto turn = wanted.waits ? FairLock::Turn::queue : FairLock::Turn::leave;
  return std::make_unique<FairLock>(wanted.claim, turn, hold_of(wanted));
}

constexpr std::array kLockTypes{
    LockType{.name = "lock", .flags = "", .help = "", .make = make_lock},
    LockType{.name = "fair", .flags = "--fair", .help = "in order of arrival", .make = make_fair},
};

}  // namespace

std::span<const LockType> lock_types() { return kLockTypes; }

const LockType* find_lock_type(std::string_view name) {
  for (const LockType& type : kLockTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::string_view lock_type_names() {
  static const std::string names = [] {
    std::string all;
    for (const LockType& type : kLockTypes) all += (all.empty() ? "" : " ") + std::string{type.name};
    return all;
  }();
  return names;
}

}  // namespace rlock
