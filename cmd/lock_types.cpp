#include "cmd/lock_types.h"

#include <array>

#include "sync/lock.h"

namespace rlock {
namespace {

std::unique_ptr<Lockable> make_lock(const Wanted& wanted) {
  return std::make_unique<Lock>(wanted.claim, wanted.again ? Lock::Hold::another : Lock::Hold::first);
}

constexpr std::array kLockTypes{
    LockType{.name = "lock", .flags = "", .help = "", .make = make_lock},
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
