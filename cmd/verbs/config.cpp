// rlock config: which settings are in force, and where each comes from.

#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/cli/screen_size.h"
#include "cmd/server/setting_rows.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/table.h"

namespace rlock {
namespace {

class Config final : public Verb {
 public:
  VerbSpec spec() override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  bool json_ = false;
  ServerOptions server_;
};

VerbSpec Config::spec() {
  VerbSpec spec{
      .verb = "config",
      .usage = {"config [OPTIONS]"},
      .about =
          "Print every setting in force, its value, and where it comes from. No password\n"
          "is shown, and no server is asked.",
      .operands = {},
      .groups = {},
      .foreign = {},
      .notes = "Exit status: 0, 64 usage, 78 configuration.",
      .examples = {{"rlock config", ""},
                   {"rlock config --json | jq -r '.settings[] | .name + \" \" + .from'", ""}},
  };
  spec.add({.names = "--json", .help = "one document; schema in rlock-config(1)", .set = into(json_)});
  declare_server_options(spec, server_);
  return spec;
}

int Config::act(TimePoint, std::vector<std::string>) {
  const std::vector<SettingRow> rows = setting_rows(server_, settings_of(server_));
  if (json_) {
    std::vector<Json> items;
    for (const SettingRow& row : rows)
      items.push_back(
          Json::object({{"name", Json::word(row.name)}, {"value", row.value}, {"from", row.from}}));
    print_line(Json::object({{"v", 1}, {"settings", Json::array(items)}}).str());
    return exit_code::ok;
  }
  std::vector<std::vector<std::string>> cells;
  for (const SettingRow& row : rows) cells.push_back({row.name, row.value, row.from});
  for (const std::string& line : table_lines(cells, {false, true, true}, stdout_columns())) print_line(line);
  return exit_code::ok;
}

}  // namespace

std::unique_ptr<Verb> config_verb() { return std::make_unique<Config>(); }

}  // namespace rlock
