#include "cmd/ask/last_word.h"

#include <fmt/format.h>

#include "base/as_given.h"
#include "base/key_text.h"
#include "base/log.h"
#include "cmd/cli/exit_code.h"

namespace rlock {
namespace {

Failure failure_of(const GaveUp& gave_up) { return gave_up.failure.value_or(no_answer()); }

}  // namespace

LastWord::LastWord(WaitLines& lines, const GaveUp& gave_up)
    : lines_(lines),
      gave_up_(gave_up),
      waited_(lines.since_start()),
      session_(lines.session()),
      news_(lines.over()) {
  news_.take(gave_up);
}

int LastWord::not_held(std::string_view then) {
  if (gave_up_.why == GaveUp::Why::busy) {
    busy();
    return lines_.wait().conflict_exit_code;
  }
  if (gave_up_.refused) {
    warn(gave_up_.refused->text);
    return exit_code::wrong_type;
  }
  warn(failure(then));
  return exit_code::of(failure_of(gave_up_).kind);
}

void LastWord::busy() {
  if (verbosity() == Verbosity::quiet || !gave_up_.busy) return;
  look_again();
  const TimePoint now = session_.now();
  const WaitView last = news_.view(now);
  const std::string configured = as_given("wait", "");
  const std::string effort = lines_.wait().nonblock
                                 ? fmt::format("not waiting ({}): ", lines_.wait().nonblock_as_given())
                                 : fmt::format("gave up after {}{}: ", waited_,
                                               configured.empty() ? "" : fmt::format(" ({})", configured));
  if (const auto why = news_.trouble(now))
    return info(fmt::format("{}{}{}", effort, *why, news_.known_text(now)));
  info(effort + wait_text(last, Moment::over));
  const std::string remedy = wait_remedy(last, words_for(gave_up_.busy->key));
  if (!remedy.empty()) info(remedy);
}

void LastWord::interrupted(int signal) {
  if (verbosity() == Verbosity::quiet) return;
  look_again();
  const TimePoint now = session_.now();
  const auto why = news_.trouble(now);
  info(fmt::format("{} after {}: {}", signal_name(signal), waited_,
                   why ? news_.server_text(*why, now) : wait_text(news_.view(now), Moment::over)));
}

void LastWord::superseded() { info(fmt::format("gave up after {}: {}", waited_, gave_up_.refused->text)); }

std::string LastWord::failure(std::string_view then) {
  return session_.describe(failure_of(gave_up_), news_.known_text(session_.now()) + std::string{then});
}

/// Asks once more about the holder, and turns the loop until the answer.
void LastWord::look_again() {
  if (session_.given_away()) return;
  const TimePoint now = session_.now();
  news_.ask(now);
  if (!news_.asks()) return;
  const Patience patience{plus(now, kInquiry), [this] { return session_.signals.insisted(); }};
  session_.loop.wait(patience, [this] {
    news_.advance();
    return !news_.asks();
  });
}

}  // namespace rlock
