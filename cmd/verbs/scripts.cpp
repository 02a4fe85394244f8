// rlock scripts list | show | load: the Lua scripts of rlock, for users who want to read them, or load them
// beforehand.

#include "scripts.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/cli/suggest.h"
#include "cmd/server/session.h"
#include "cmd/verbs/verbs.h"

namespace rlock {
namespace {

class ScriptsList final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.usage = {"scripts list [--json]"};
    spec.about = "List the Lua scripts that rlock sends, with the SHA-1 that Redis knows them by.";
    spec.examples = {{"rlock scripts list", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    std::vector<Json> items;
    std::string lines;
    for (const Script* script : scripts::all) {
      items.push_back(Json::object({{"name", Json::word(script->name)},
                                    {"sha1", Json::word(script->sha1)},
                                    {"bytes", script->source.size()}}));
      lines += fmt::format("{}  {}\n", script->sha1, script->name);
    }
    print(json_ ? Json::document({{"scripts", Json::array(items)}}).str() + "\n" : lines);
    return exit_code::ok;
  }
};

std::string script_names() { return joined(scripts::all, " ", &Script::name); }

class ScriptsShow final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Print a script byte for byte, as rlock sends it.";
    spec.examples = {{"rlock scripts show lock/acquire", ""},
                     {"rlock scripts show lock/acquire | sha1sum", ""}};
    spec.operands.push_back({.name = "NAME",
                             .help = "a name that rlock scripts list prints",
                             .offer = Offer::choices,
                             .choices = names_,
                             .set = [this](std::string_view name) { script_ = &find(name); }});
  }

  int act(TimePoint, std::vector<std::string>) override {
    print(script_->source);
    return exit_code::ok;
  }

 private:
  static const Script& find(std::string_view name) {
    std::vector<std::string_view> known;
    for (const Script* script : scripts::all) {
      if (script->name == name) return *script;
      known.push_back(script->name);
    }
    const auto meant = nearest(name, known);
    throw Error{Error::usage, meant ? fmt::format("no script {}; did you mean {}?", in_quotes(name), *meant)
                                    : fmt::format("no script {}; see rlock scripts list", in_quotes(name))};
  }

  const std::string names_ = script_names();
  const Script* script_ = nullptr;
};

class ScriptsLoad final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about =
        "Load every script into the servers. You never need this: if a server lacks a script, rlock sends its text.";
    spec.examples = {{"rlock scripts load", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_, Session::Access::looks};
    for (const Script* script : scripts::all) {
      const Reply reply = session.ask(command({"SCRIPT", "LOAD", std::string{script->source}}));
      if (reply.text() != script->sha1)
        throw Error{Error::internal,
                    fmt::format("the server calls script {} {}", script->name, in_quotes(reply.text()))};
    }
    return exit_code::ok;
  }
};

}  // namespace

VerbRows scripts_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = "scripts list",
                .summary = "list the Lua scripts with their SHA-1",
                .takes = takes::json,
                .create = create<ScriptsList>},
      VerbEntry{
          .name = "scripts show", .summary = "print a script byte for byte", .create = create<ScriptsShow>},
      VerbEntry{.name = "scripts load",
                .summary = "load all scripts into the servers",
                .takes = takes::server,
                .create = create<ScriptsLoad>}};
  return kRows;
}

}  // namespace rlock
