#include "redis/redis.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace rlock {

Reply Redis::ask(const Call& call, const Patience& patience) {
  const Votes votes = run(call, patience, Insist::persist, [](const Votes& so_far) {
    return std::ranges::any_of(so_far, [](const Vote& vote) { return vote.answer() != nullptr; });
  });
  std::optional<Failure> failure;
  for (const Vote& vote : votes) {
    if (const Reply* reply = vote.answer()) return *reply;
    if (vote.reply) failure = failure_of(*vote.reply);
    if (vote.failure) failure = vote.failure;
  }
  if (!failure) failure = Failure{Error::unreachable, "interrupted"};
  failure->fly();
}

Failure failure_of(const Reply& error) {
  static constexpr std::array<std::string_view, 4> kDenied{"NOAUTH", "WRONGPASS", "NOPERM", "DENIED"};
  const std::string text = sanitized(error.text());
  const auto starts = [&](std::string_view code) { return error.is_error(code); };
  if (std::ranges::any_of(kDenied, starts) ||
      text.find("The user executing the script") != std::string::npos) {
    return {Error::denied, text};
  }
  if (starts("WRONGTYPE")) return {Error::wrong_type, text};
  if (starts("CROSSSLOT")) return {Error::config, text};
  return {Error::unreachable, text};
}

}  // namespace rlock
