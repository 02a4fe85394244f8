#include "cmd/hold/keep/release_held.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/key_text.h"
#include "base/log.h"
#include "cmd/ask/unannounced.h"
#include "cmd/hold/report/hold_end.h"
#include "sync/wait/acquire.h"

namespace rlock {
namespace {

/// Says what became of the release of a key. `expires_within`: see HeldKeys.
void report_release(const std::string& key, const ReleaseResult& answer,
                    std::optional<Milliseconds> expires_within) {
  if (answer.how == ReleaseResult::How::unknown)
    warn(fmt::format("release of {} not confirmed ({}); it {}", key, answer.why,
                     unconfirmed_end(expires_within)));
  else if (!answer.why.empty())
    debug(fmt::format("release of {} not confirmed by every server ({})", key, answer.why));
  if (answer.how != ReleaseResult::How::yes) return;
  debug("released " + key);
  say_unannounced("released " + key, answer.unannounced);
}

}  // namespace

std::vector<ReleaseResult> release_held(Redis& redis, const EndingHold& hold, Patience patience) {
  patience.until = earliest(patience.until, hold.latest());
  const auto [ours, left] = hold.split();
  const auto released =
      ours.empty() ? std::vector<ReleaseResult>{} : release(redis, ours, hold.options, patience);
  if (!left.empty()) record_end(redis, left, redis.loop().within(cleanup_time(left.size())));
  std::vector<ReleaseResult> answers;
  auto next = released.begin();
  for (const Part& part : hold.parts) {
    if (hold.may_be_anothers(part)) {
      answers.push_back({.how = ReleaseResult::How::not_ours});
      continue;
    }
    report_release(quoted(part.lock->name()), *next, hold.keys.expires_within(part, hold.kept));
    answers.push_back(*next++);
  }
  return answers;
}

}  // namespace rlock
