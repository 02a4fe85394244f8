// rlock config: prints the settings in force, and the source of each.

#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/cli/screen_size.h"
#include "cmd/server/settings_in_force.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/table.h"

namespace rlock {
namespace {

class Config final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;
};

void Config::declare(VerbSpec& spec) {
  spec.about =
      "Print every setting in force, its value and its source. rlock prints no password and asks no server.";
  spec.examples = {{"rlock config", ""},
                   {"rlock config --json | jq -r '.settings[] | .name + \" \" + .from'", ""}};
}

int Config::act(TimePoint, std::vector<std::string>) {
  const std::vector<SettingInForce> rows = settings_in_force(server_, settings_of(server_));
  if (json_) {
    const auto item = [](const SettingInForce& row) {
      return Json::object({{"name", Json::word(row.name)}, {"value", row.value}, {"from", row.from}});
    };
    print_line(Json::document({{"settings", Json::list(rows, item)}}).str());
    return exit_code::ok;
  }
  std::vector<std::vector<std::string>> cells;
  for (const SettingInForce& row : rows) cells.push_back({row.name, row.value, row.from});
  for (const std::string& line : table_lines(cells, {false, true, true}, stdout_columns())) print_line(line);
  return exit_code::ok;
}

}  // namespace

VerbRows config_verbs() {
  static constexpr VerbEntry kRow{.name = "config",
                                  .summary = "print every setting in force, and its source",
                                  .takes = takes::server | takes::json,
                                  .exits = "0 done",
                                  .create = create<Config>,
                                  .errors = "64 usage, 78 configuration"};
  return {&kRow, 1};
}

}  // namespace rlock
