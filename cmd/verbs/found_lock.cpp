#include "cmd/verbs/found_lock.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/key_text.h"
#include "base/text.h"
#include "sync/watch/kind_actions.h"

namespace rlock {
namespace {

/// The kind that was found, for users who expected another.
std::string what(const Inspection& found) {
  if (found.kind == nullptr) return "a " + sanitized(found.foreign);
  return std::string{found.kind->as_found.empty() ? found.kind->noun : found.kind->as_found};
}

/// Could a hold of this type be stored here? Kinds with the same layout count as equal.
bool agrees(const Inspection& found, std::string_view type) {
  return found.kind != nullptr && &found.kind->plainest() == &find_lock_type(type)->kind->plainest();
}

}  // namespace

void declare_expected_type(VerbSpec& spec, std::string& type, std::string_view manual) {
  spec.add({.names = "--type",
            .value = "T",
            .help = "exit with status 65 if KEY has another type",
            .manual = manual,
            .offer = Offer::choices,
            .choices = lock_type_names(),
            .set = choice(type, lock_type_names())});
}

bool is_meant(const Holder& holder, const std::optional<Owner>& named) {
  if (!named || holder.owner == *named) return true;
  return !holder.permit.empty() && to_hex(holder.permit) == named->str();
}

void expect_named(const Inspection& found, const std::optional<Owner>& named, std::string_view what) {
  if (!found.is_pool() || named || found.holders.empty()) return;
  throw Error{Error::wrong_type,
              fmt::format("{} holds {}: name {} by --if-owner ID; rlock inspect -v {} shows the ids",
                          quoted(found.name), found.kind->noun, what, words_for(found.name))};
}

std::string not_held_by(const Owner& owner, const Inspection& found) {
  const std::size_t read = found.holders.size();
  const bool may_have_others = found.is_pool() && found.unnamed > 0 && !from_hex(owner.str());
  if (owner.str().find("...") != std::string::npos)
    return fmt::format(
        "{} is not held by owner {}: rlock shortens long ids; to see them in full: rlock inspect -v {}",
        quoted(found.name), in_quotes(owner.str()), words_for(found.name));
  return fmt::format("{} is not held by owner {}{}; see: rlock inspect {}", quoted(found.name),
                     in_quotes(owner.str()),
                     may_have_others ? fmt::format(" (rlock has read {} of its {} permits)", read,
                                                   static_cast<std::int64_t>(read) + found.unnamed)
                                     : "",
                     words_for(found.name));
}

bool is_free(const Inspection& found) { return found.state == Inspection::State::free || found.only_noted; }

void expect_lock(const Inspection& found, std::string_view type, const std::optional<Owner>& owner) {
  if (is_free(found)) return;
  const bool is_lock = found.kind != nullptr && actions_of(*found.kind).force != nullptr;
  // A pool without taken permits looks like a semaphore.
  const bool may_be_pool = agrees(found, kinds::permit.name);
  if (type.empty() ? is_lock || (may_be_pool && owner) : agrees(found, type)) return;
  throw Error{Error::wrong_type,
              fmt::format("{} holds {}, not {}; see: rlock inspect {}", quoted(found.name), what(found),
                          type.empty() ? "a lock" : fmt::format("what --type {} takes", type),
                          words_for(found.name))};
}

std::unique_ptr<Lockable> found_lock(const Inspection& found, const Claim& claim) {
  const Holder* holder = found.holder(claim.owner);
  if (holder == nullptr || found.kind == nullptr || actions_of(*found.kind).hold == nullptr) return nullptr;
  return actions_of(*found.kind).hold(found, *holder, claim);
}

}  // namespace rlock
