#include "cmd/ask/candidates.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.h"
#include "base/key_text.h"
#include "base/redaction.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/ask/search.h"

namespace rlock {
namespace {

/// How long a user who pressed TAB waits.
constexpr Milliseconds kSearch{1000};

/// May a shell type this word for the user? A word that looks like an option, or contains a password, is left
/// out. So is a word that a terminal would obey or show differently, or that fish would expand to a home
/// directory. Any client with write access may have chosen it.
bool can_be_offered(std::string_view word) {
  return !word.starts_with('-') && !word.starts_with('~') && is_harmless(word) && redacted(word) == word;
}

/// If the server is old or denies the search, returns no numbers, because the other keys are still useful.
std::set<LockName> numbers_of(Session& session, TimePoint until) {
  try {
    return search(session, {.what = SearchFor::numbers, .until = until}).names;
  } catch (const Error&) {  // a completion shows nothing rather than an error
    return {};
  }
}

std::vector<std::string> those_to_offer(const std::set<std::string>& words) {
  std::vector<std::string> offered;
  std::ranges::copy_if(words, std::back_inserter(offered),
                       [](const std::string& word) { return !word.empty() && can_be_offered(word); });
  return offered;
}

}  // namespace

std::vector<std::string> key_candidates(Session& session, Offer offer) {
  const TimePoint until = plus(session.now(), kSearch);
  std::set<LockName> names = search(session, {.until = until}).names;
  if (offer == Offer::counter) names.merge(numbers_of(session, until));
  std::set<std::string> keys;
  for (const LockName& name : names) {
    if (auto key = typed(name)) keys.insert(*std::move(key));
  }
  return those_to_offer(keys);
}

std::vector<std::string> owner_candidates(Session& session, const std::string& key) {
  std::set<std::string> owners;
  for (const Inspection& seen : inspect_each(session, session.name(key)).seen) {
    for (const Holder& holder : seen.holders) owners.insert(holder.owner.str());
  }
  return those_to_offer(owners);
}

}  // namespace rlock
