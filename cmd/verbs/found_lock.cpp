#include "cmd/verbs/found_lock.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/key_text.h"
#include "base/text.h"
#include "sync/lock.h"

namespace rlock {
namespace {

using Type = Inspection::Type;

/// A hold of which nobody knows whether it is a first one, or that of a fair lock.
class AnyHold final : public Lock {
 public:
  explicit AnyHold(Claim claim) : Lock(std::move(claim)) {}
  Call release(const ReleaseOptions&) const override { return release_any(); }
};

bool is_lock(Type type) {
  return type == Type::lock || type == Type::fair || type == Type::fenced || type == Type::read_write ||
         type == Type::plain;
}

std::string what(const Inspection& found) {
  switch (found.type) {
    case Type::read_write: return "a read/write lock";
    case Type::plain: return "a plain token lock";
    case Type::semaphore: return "a number: a semaphore, perhaps";
    case Type::permit: return "a pool of permits";
    case Type::latch: return "a latch";
    case Type::foreign: return "a " + sanitized(found.foreign);
    default: return "a lock";
  }
}

/// May a hold of this type stand there? lock, fair, fenced and spin look alike to whoever finds them.
bool agrees(const Inspection& found, std::string_view type) {
  const bool pool =
      found.type == Type::permit || found.type == Type::semaphore;  // they differ by what is taken
  if (type == "permit" || pool) return type == "permit" && pool;
  if (type == "read" || type == "write") return found.type == Type::read_write;
  if (type == "plain") return found.type == Type::plain;
  return found.type != Type::read_write && found.type != Type::plain;
}

}  // namespace

const Holder* holder_named(const Inspection& found, const Owner& owner) {
  const auto holder = std::ranges::find(found.holders, owner, &Holder::owner);
  return holder == found.holders.end() ? nullptr : &*holder;
}

void expect_lock(const Inspection& found, std::string_view type, const std::optional<Owner>& owner) {
  if (found.state == Inspection::State::free) return;
  const bool taken = found.type == Type::permit && owner && holder_named(found, *owner);
  if (type.empty() ? is_lock(found.type) || taken : agrees(found, type)) return;
  throw Error{Error::wrong_type,
              fmt::format("{} holds {}, not {}", quoted(found.name), what(found),
                          type.empty() ? "a lock" : fmt::format("what --type {} takes", type))};
}

std::string_view type_of_hold(const Inspection& found, const Owner& owner) {
  const Holder* holder = holder_named(found, owner);
  if (!holder) return "";
  if (found.type == Type::permit) return "permit";
  if (!is_lock(found.type)) return "";
  if (found.type == Type::plain) return "plain";
  if (found.type != Type::read_write) return "lock";
  return holder->mode == Holder::Mode::write ? "write" : "read";
}

std::unique_ptr<Lockable> found_lock(const Inspection& found, const Claim& claim) {
  const std::string_view type = type_of_hold(found, claim.owner);
  if (type.empty()) return nullptr;
  if (type == "lock") return std::make_unique<AnyHold>(claim);
  return find_lock_type(type)->make(
      {.claim = claim, .count = std::ranges::count(found.holders, claim.owner, &Holder::owner)});
}

}  // namespace rlock
