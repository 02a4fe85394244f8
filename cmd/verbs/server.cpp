// rlock server start | stop | status: the private server behind `local:`.

#include <fmt/format.h>

#include <array>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/server/server_options.h"
#include "cmd/verbs/verbs.h"
#include "redis/route/local.h"

namespace rlock {
namespace {

/// How long a server may take to save its data and to end.
constexpr Milliseconds kLocalStop{10000};

class ServerStart final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about =
        "Start the private server of --url local: unless it runs. Every verb starts it on first use; you "
        "need this for a boot script, or to see why it does not start.";
    spec.examples = {{"rlock server start", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    const Address address = ensure_local_server(within(kLocalStart));
    debug(fmt::format("the private server listens on {}", in_quotes(address.str())));
    return exit_code::ok;
  }
};

class ServerStop final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about =
        "Stop the private server of --url local: and save its data on disk for the next start. A command "
        "that holds a lock on the server may lose it.";
    spec.examples = {{"rlock server stop", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    if (stop_local_server(within(kLocalStop))) return exit_code::ok;
    info("the private server was not running");
    return exit_code::no;
  }
};

class ServerStatus final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.usage = {"server status [--json]"};
    spec.about = "Print whether the private server of --url local: runs, and its socket.";
    spec.examples = {{"rlock server status", ""},
                     {"redis-cli -s \"$(rlock server status --json | jq -r .socket)\"", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    const LocalServer server = local_server();
    if (json_) {
      print_line(Json::document({{"running", server.running},
                                 {"pid", server.running ? Json{server.pid} : Json{}},
                                 {"socket", server.address.path},
                                 {"directory", server.directory}})
                     .str());
    } else if (verbosity() != Verbosity::quiet) {
      const std::string socket = sanitized(server.address.path);
      print_line(server.running ? fmt::format("running, pid {}, on {}", server.pid, socket)
                                : fmt::format("not running; it would listen on {}", socket));
    }
    return server.running ? exit_code::ok : exit_code::no;
  }
};

}  // namespace

VerbRows server_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = "server start",
                .summary = "start the private server, unless it runs",
                .exits = "0 the server runs, 69 it does not start, 78 its folder is not safe",
                .create = create<ServerStart>},
      VerbEntry{.name = "server stop",
                .summary = "stop the private server",
                .exits = "0 stopped, 1 the server did not run, 69 it does not end",
                .create = create<ServerStop>},
      VerbEntry{
          .name = "server status",
          .summary = "print whether the private server runs, and where",
          .takes = takes::json,
          .exits =
              "0 the server runs, 1 it does not run, 69 it runs but does not answer, 78 its folder is not safe",
          .create = create<ServerStatus>}};
  return kRows;
}

}  // namespace rlock
