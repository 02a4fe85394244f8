// Every message of rlock on one page: tests/binary/output/messages.txt. A shell runs each scene of the page with
// the real binary and a real server. The test compares the output with the page.
//
//   == a title                  begins a scene, on an empty server
//   % a command                 prepares the scene; its output is not shown
//   $ a command                 is run; its lines on stdout and stderr follow, and [N] for an exit status other
//                               than 0
//
// TIME, PID, HOST, USER, PORT and OWNER replace the parts that differ from run to run.
// RLOCK_UPDATE_MESSAGES=1 writes the page.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/identity.h"
#include "base/text.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

std::string page_name() { return std::string{RLOCK_SOURCE_FOLDER} + "/tests/binary/output/messages.txt"; }

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Replaces the parts of the text that differ from run to run.
std::string steady(std::string text, const RedisServer& redis, const TempDir& folder) {
  const std::string time = R"((\d+(\.\d+)?(ms|s|m|h|d)( \d+(s|m|h))?))";
  const std::vector<std::pair<std::string, std::string>> patterns{
      {R"(\b[0-9a-f]{32}:\d+\b)", "OWNER"},
      {R"(\b[0-9a-f]{8}-[0-9a-f-]{27}:\d+\b)", "OWNER"},
      {R"(\b[0-9a-f]{6}\.\.\.:\d+)", "OWNER"},
      {R"(\b(pid|process) \d+)", "$1 PID"},
      {"\\b(for|in|after|within|than) " + time, "$1 TIME"},
      {time + " ago", "TIME ago"},
      {"(; kept|for) " + time + " more", "$1 TIME more"}};
  replace_all(text, folder.path(), "FOLDER");
  replace_all(text, ":" + std::to_string(redis.port()), ":PORT");
  replace_all(text, rlock::user_name() + "@" + rlock::host_name(), "USER@HOST");
  std::string steady;
  for (std::string line : rlock::split(text, '\n')) {
    const bool typed = line.starts_with("$ ") || line.starts_with("% ");
    for (const auto& [pattern, with] : patterns)
      if (!typed) line = std::regex_replace(line, std::regex{pattern}, with);
    steady += line + "\n";
  }
  steady.pop_back();  // split() has made an empty line behind the last newline
  return steady;
}

/// One scene of the page: its title, and its commands with their marks.
struct PageScene {
  std::string title;
  std::vector<std::string> commands;
};

std::vector<PageScene> scenes_of(const std::string& page) {
  std::vector<PageScene> scenes;
  for (const std::string& line : rlock::split(page, '\n')) {
    if (line.starts_with("== ")) scenes.push_back({.title = line, .commands = {}});
    if (!scenes.empty() && (line.starts_with("$ ") || line.starts_with("% ")))
      scenes.back().commands.push_back(line);
  }
  return scenes;
}

/// The text above the first scene.
std::string preface_of(const std::string& page) { return page.substr(0, page.find("== ")); }

/// The scene as a shell script. At its end it ends its background jobs.
std::string script_of(const PageScene& scene) {
  std::string script =
      "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n"
      "redis() { exec 9<>/dev/tcp/127.0.0.1/$PORT; echo \"$*\" >&9; read -r _ <&9; exec 9>&-; }\n";
  for (const std::string& line : scene.commands) {
    const std::string command = line.substr(2);
    script += fmt::format("printf '%s\\n' {}\n", rlock::shell_quoted(line));
    if (line.starts_with("% "))
      script += fmt::format("{{ {}\n}} >/dev/null 2>&1\n", command);
    else
      script += fmt::format("{{ {}\n}} 2>&1\nstatus=$?; [ $status = 0 ] || echo \"[$status]\"\n", command);
  }
  return script;
}

}  // namespace

TEST_CASE(
    "every message is as tests/binary/output/messages.txt has it (RLOCK_UPDATE_MESSAGES=1 writes that page)") {
  RedisServer redis{RedisServer::Options{.tcp = true}};
  TempDir folder;
  std::filesystem::create_symlink(rlock_binary(), folder / "rlock");
  Process::Options options = redis.environment();
  options.env["PATH"] = folder.path() + ":" + std::getenv("PATH");
  options.env["XDG_STATE_HOME"] = folder / "state";
  std::filesystem::create_directory(folder / "state");
  options.env["RLOCK_URL"] = redis.tcp_url();
  options.env["PORT"] = std::to_string(redis.port());
  options.directory = folder.path();
  options.own_session = true;
  const std::string page = read_file(page_name());
  std::string fresh = preface_of(page);
  for (const PageScene& scene : scenes_of(page)) {
    CAPTURE(scene.title);
    redis.cli({"FLUSHALL"});
    Process shell{{"bash", "-c", script_of(scene)}, options};
    static_cast<void>(shell.exit_code(std::chrono::seconds{60}));
    CHECK(shell.err() == "");
    const std::string shown = scene.title + "\n" + steady(shell.out(), redis, folder) + "\n";
    fresh += shown;
    CHECK_MESSAGE(contains(page, shown), shown);
  }
  if (std::getenv("RLOCK_UPDATE_MESSAGES") != nullptr) write_file(page_name(), fresh);
}
