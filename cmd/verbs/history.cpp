// rlock history: prints who held a key, and how each hold ended.

#include <fmt/format.h>

#include "base/key_text.h"
#include "base/log.h"
#include "cmd/ask/past_holds.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/server/key_options.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/history_text.h"
#include "cmd/view/inspection_text.h"

namespace rlock {
namespace {

class HistoryVerb final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  std::int64_t most_ = kLongestHistory;
};

void HistoryVerb::declare(VerbSpec& spec) {
  spec.about =
      "Print who held KEY and how each hold ended, the newest first. The server keeps the last 20 holds of "
      "a key until a week after the newest one.";
  spec.notes = "RLOCK_HISTORY=0, or history = 0 in a configuration file, turns the record off.\n";
  spec.examples = {{"rlock history deploy", ""},
                   {"rlock history -n 1 --json deploy | jq -r '.holds[].outcome'", ""}};
  spec.add({.names = "-n, --lines",
            .value = "N",
            .help = "print at most N holds",
            .standard = "20",
            .manual = "N is from 1 to 20.",
            .set = number_between(most_, 1, kLongestHistory)});
}

int HistoryVerb::act(TimePoint, std::vector<std::string>) {
  Session session{server_, Session::Access::looks};
  const LockName name = session.name(key_);
  const History history = history_of(session, name, most_);
  if (json_)
    print_line(Json::document({{"key", name},
                               {"name", typed(name)},
                               {"now", history.now},
                               {"holds", Json::list(history.holds, past_json)}})
                   .str());
  for (const PastHold& past : history.holds)
    if (!json_) print_line(past_text(past));
  if (!history.holds.empty()) return exit_code::ok;
  if (!json_) info(fmt::format("the server has no record of an ended hold of {}", quoted(name)));
  say_if_pattern(name);
  return exit_code::no;
}

}  // namespace

VerbRows history_verbs() {
  static constexpr VerbEntry kRow{.name = "history",
                                  .summary = "print who held a key before, and how each hold ended",
                                  .takes = takes::key | takes::server | takes::json,
                                  .exits = "0 there are such holds, 1 there are none",
                                  .create = create<HistoryVerb>,
                                  .errors = kErrorsOfServer};
  return {&kRow, 1};
}

}  // namespace rlock
