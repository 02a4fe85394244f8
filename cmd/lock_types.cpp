#include "cmd/lock_types.h"

#include <array>

namespace rlock {
namespace {

constexpr std::array kLockTypes{
    LockType{.name = "lock", .flags = "", .help = ""},
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
