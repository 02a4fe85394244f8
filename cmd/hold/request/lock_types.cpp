// The table of the types of `run` and `lock acquire`. A new type is one row, with a function that makes the lock.
// What a row forbids (only_one_key, only_one_server, …) is the reason that the user reads.

#include "cmd/hold/request/lock_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/as_given.h"
#include "base/error.h"
#include "base/text.h"
#include "sync/kinds/fair.h"
#include "sync/kinds/fenced.h"
#include "sync/kinds/lock.h"
#include "sync/kinds/permit_lock.h"
#include "sync/kinds/plain.h"
#include "sync/kinds/read_write.h"

namespace rlock {
namespace {

template <class Type>
std::unique_ptr<Lockable> make(const LockSpec& spec) {
  return std::make_unique<Type>(spec.claim, spec.hold);
}

std::unique_ptr<Lockable> make_fair(const LockSpec& spec) {
  const auto if_busy = spec.waits ? IfBusy::place : IfBusy::leave;
  return std::make_unique<FairLock>(spec.claim, if_busy, spec.hold, spec.options.fair_wait_timeout);
}

/// Redisson's spin lock starts at 1 ms. Clients of a plain lock poll more slowly, and so do we.
constexpr Waitable::Pause kSpinPause{Milliseconds{1}, Milliseconds{128}};
constexpr Waitable::Pause kPlainPause{Milliseconds{10}, Milliseconds{500}};

template <class Type, const Waitable::Pause& standard>
std::unique_ptr<Lockable> make_polling(const LockSpec& spec) {
  return std::make_unique<Type>(spec.claim, spec.options.backoff.value_or(standard), spec.hold);
}

std::unique_ptr<Lockable> make_permits(const LockSpec& spec) {
  return std::make_unique<PermitLock>(
      spec.claim, PermitLock::Wanted{.count = spec.options.count, .total = spec.options.permits}, spec.hold);
}

/// In the order of `rlock run --help`.
constexpr LockType kLockTypes[] = {
    {.name = "lock", .kind = &kinds::lock, .once_per = true, .make = make<Lock>},
    {.name = "read",
     .kind = &kinds::read_write,
     .flags = "-s, --shared, --read",
     .help = "acquire for reading: other readers may hold it too",
     .in_order = "readers share the key, so older ones may read beside the newest",
     .renewed_within = kBesideRedisson,
     .make = make<ReadLock>},
    {.name = "write",
     .kind = &kinds::read_write,
     .flags = "-x, --exclusive, --write",
     .help = "acquire for writing: no reader, no other writer",
     .make = make<WriteLock>},
    {.name = "fair",
     .kind = &kinds::fair,
     .flags = "--fair",
     .help = "acquire in order of arrival",
     .once_per = true,
     .fair_wait = true,
     .in_order = "Redisson's clients wait in its queue, too, and go in order of arrival",
     .make = make_fair},
    {.name = "fenced",
     .kind = &kinds::fenced,
     .flags = "--fenced",
     .help = "get a growing fencing token in RLOCK_FENCE",
     .once_per = true,
     .only_one_server =
         "each server counts by itself, so the numbers of one holder and the next could not be compared",
     .make = make<FencedLock>},
    {.name = "spin",
     .kind = &kinds::lock,
     .polls = true,
     .in_order = "its waiters have no queue",
     .make = make_polling<SpinLock, kSpinPause>},
    {.name = "permit",
     .kind = &kinds::permit,
     .only_one_server = "majorities among them can be found for more holders than there are permits",
     .only_one_key =
         "pools are of different sizes, and RLOCK_SLOT is a place in one of them; hold one inside the other",
     .only_one_hold = "an owner has the permits that it took at once; take others under another owner",
     .in_order = "several hold its permits at once, so an older one may run beside the newest",
     .busy_text = kPermitsAreBusy,
     .make = make_permits},
    {.name = "plain",
     .kind = &kinds::plain,
     .polls = true,
     .bare_owner = true,
     .only_one_hold = "it is a token, which counts nothing",
     .in_order = "its waiters have no queue",
     .make = make_polling<PlainLock, kPlainPause>},
};

}  // namespace

std::span<const LockType> lock_types() { return kLockTypes; }

const LockType* find_lock_type(std::string_view name) {
  for (const LockType& type : kLockTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

void need_few_servers(const LockType& type, std::size_t servers) {
  if (servers == 1 || type.only_one_server.empty()) return;
  throw Error{Error::usage, fmt::format("--type {} with {} servers ({}): {}", type.name, servers,
                                        as_given("url", "--url"), type.only_one_server)};
}

const LockType* standard_lock_type() { return kLockTypes; }

std::string_view lock_type_names() {
  static const std::string names = joined(kLockTypes, " ", &LockType::name);
  return names;
}

void refuse_other_type(const LockType* before, const LockType& type) {
  if (before == nullptr || before == &type) return;
  const auto names = split(before->flags, ',');
  const auto word =
      std::ranges::find_if(names, [](const std::string& name) { return name.find("--") != name.npos; });
  if (word == names.end()) throw Error{Error::usage, fmt::format("contradicts --type {}", before->name)};
  throw Error{Error::usage,
              fmt::format("contradicts {} (--type {})", word->substr(word->find('-')), before->name)};
}

void declare_type_switches(VerbSpec& spec, const TakeType& take) {
  for (const LockType& type : lock_types()) {
    if (type.flags.empty()) continue;
    spec.add({.names = type.flags, .help = type.help, .set = [take, &type](std::string_view) {
                take(type, type.flags.substr(0, type.flags.find(',')));
              }});
  }
}

void declare_type(VerbSpec& spec, const TakeType& take) {
  spec.add({.names = "--type",
            .value = "T",
            .help = lock_type_names(),
            .standard = standard_lock_type()->name,
            .manual = "Use this type of lock. The switches above are short for some types.",
            .offer = Offer::choices,
            .choices = lock_type_names(),
            .set = [take](std::string_view name) {
              if (name == "sem")
                throw Error{Error::usage, "a semaphore has no owner; use rlock sem, or --type permit"};
              const LockType* meant = find_lock_type(name);
              if (!meant) throw Error{Error::usage, fmt::format("expected one of: {}", lock_type_names())};
              take(*meant, fmt::format("--type {}", name));
            }});
}

}  // namespace rlock
