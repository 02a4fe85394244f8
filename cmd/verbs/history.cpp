// rlock history: who had a key, and how each hold ended.

#include <fmt/format.h>

#include "base/key_text.h"
#include "base/log.h"
#include "cmd/ask/past_holds.h"
#include "cmd/cli/exit_code.h"
#include "cmd/server/owner_option.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/history_text.h"
#include "cmd/view/inspection.h"

namespace rlock {
namespace {

class HistoryVerb final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  std::int64_t most_ = kLongestHistory;
  bool json_ = false;
};

void HistoryVerb::declare(VerbSpec& spec) {
  spec.about =
      "Say who had KEY and how each hold ended, the newest first: of rlock's holds the\n"
      "last 20 of a week. Whoever ends a hold writes it down, with the release.";
  spec.notes = "RLOCK_HISTORY=0 and history = 0 in a config file turn it off.\n";
  spec.examples = {{"rlock history deploy", ""},
                   {"rlock history -n 1 --json deploy | jq -r '.holds[].outcome'", ""}};
  spec.add({.names = "-n, --lines",
            .value = "N",
            .help = "at most so many",
            .standard = "20",
            .set = number(most_, 1, kLongestHistory)});
  spec.add({.names = "--json", .help = "one document; schema in rlock-history(1)", .set = into(json_)});
}

int HistoryVerb::act(TimePoint, std::vector<std::string>) {
  Session session{server_, nullptr, Session::Access::looks};
  const LockName name = session.name(key_);
  const History history = history_of(session, name, most_);
  if (json_) {
    std::vector<Json> holds;
    for (const PastHold& past : history.holds) holds.push_back(past_json(past));
    print_line(Json::object({{"v", 1},
                             {"key", name},
                             {"name", typed(name)},
                             {"now", history.now},
                             {"holds", Json::array(holds)}})
                   .str());
  }
  for (const PastHold& past : history.holds)
    if (!json_) print_line(past_text(past));
  if (!history.holds.empty()) return exit_code::ok;
  if (!json_) tell(fmt::format("no hold of {} that has ended is written down", quoted(name)));
  say_if_pattern(name);
  return exit_code::no;
}

constexpr VerbEntry kRow{"history",
                         "who had a key, and how each hold ended",
                         takes::key | takes::server,
                         "0 there is some, 1 none",
                         create<HistoryVerb>,
                         "64 usage, 69 no server, 77 denied, 78 configuration"};

}  // namespace

VerbRows history_verbs() { return {&kRow, 1}; }

}  // namespace rlock
