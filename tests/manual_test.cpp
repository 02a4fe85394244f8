// The manual pages: what they say about options is what the parser knows, and their examples work.

#include "cmd/manual.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "cmd/verb.h"
#include "support/cli.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// The folder of the sources: where this file was compiled, seen from the build.
std::filesystem::path source_folder() { return std::filesystem::path{RLOCK_SOURCE_FOLDER}; }

std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator{source_folder() / "man"}) {
    if (entry.path().extension() == ".1") all.push_back(entry.path());
  }
  std::ranges::sort(all);
  return all;
}

/// What roff needs in the place of bytes that mean something to it.
const std::vector<std::pair<std::string, std::string>> kEscapes{
    {"\\-", "-"}, {"\\(aq", "'"}, {"\\(dq", "\""}, {"\\&", ""}, {"\\e", "\\"}};

/// The scripts of the section EXAMPLES: what stands between .EX and .EE, as a shell gets it.
std::vector<std::string> examples(const std::string& page) {
  std::vector<std::string> all;
  std::istringstream lines{page.substr(std::min(page.find(".SH EXAMPLES"), page.size()))};
  std::string script;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == ".EE") all.push_back(std::exchange(script, ""));
    if (line == ".EX" || line == ".EE") {
      inside = line == ".EX";
      continue;
    }
    if (!inside) continue;
    for (const auto& [from, to] : kEscapes) {
      for (std::size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size())
        line.replace(at, from.size(), to);
    }
    script += line + "\n";
  }
  return all;
}

/// Commands that examples run, standing in for what their readers have.
void provide(const TempDir& folder, const std::string& name) {
  write_file(folder / name, "#!/bin/sh\nexit 0\n");
  std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("the options in the manual are those of the parser (RLOCK_UPDATE_MANUAL=1 writes them)") {
  REQUIRE(!pages().empty());
  for (const auto& path : pages()) {
    CAPTURE(path.filename().string());
    const std::string page = read_file(path);
    const std::string fresh = rlock::with_fresh_options(page);
    if (std::getenv("RLOCK_UPDATE_MANUAL") != nullptr && page != fresh) write_file(path, fresh);
    CHECK(read_file(path) == fresh);
  }
}

TEST_CASE("every verb has a page, and every option of its own stands there") {
  std::string all;
  for (const auto& path : pages()) all += read_file(path);
  for (const rlock::VerbEntry& entry : rlock::verbs()) {
    const std::string name{entry.name};
    CAPTURE(name);
    CHECK(std::filesystem::exists(source_folder() / "man" /
                                  ("rlock-" + name.substr(0, name.find(' ')) + ".1")));
    if (!rlock::manual_options(name).empty())
      CHECK(all.find(".\\\" options of " + name + "\n") != std::string::npos);
  }
}

TEST_CASE("no option of a page is without a word, not even one that no screen shows") {
  for (const auto& path : pages()) {
    CAPTURE(path.filename().string());
    CHECK(read_file(path).find("\\fR\n\n") == std::string::npos);
  }
  const std::string run = rlock::manual_options("run");
  for (const char* option : {"\\fB\\-\\-command\\fR", "\\fB\\-\\-count\\fR"})
    CHECK(run.find(option) != std::string::npos);
}

TEST_CASE("man finds nothing to complain about") {
  for (const auto& path : pages()) {
    CAPTURE(path.filename().string());
    Process man{{"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path}};
    CHECK(man.exit_code() == 0);
    CHECK(man.err().empty());
  }
}

TEST_CASE("the examples of the manual work as they are written") {
  RedisServer redis;
  TempDir folder;
  for (const char* name : {"deploy.sh", "job", "report", "migrate", "backup", "build", "make", "notify"})
    provide(folder, name);
  std::filesystem::create_symlink(rlock_binary(), folder / "rlock");
  Process::Options options = redis.environment();
  options.env["PATH"] = folder.path() + ":" + std::getenv("PATH");
  options.directory = folder.path();
  for (const auto& path : pages()) {
    for (const std::string& script : examples(read_file(path))) {
      CAPTURE(path.filename().string());
      CAPTURE(script);
      Process shell{{"sh", "-eu", "-c", script}, options};
      const int status = shell.exit_code(std::chrono::seconds{60});
      INFO(shell.err());
      CHECK(status == 0);
      redis.cli({"FLUSHALL"});
    }
  }
  Process stop{{rlock_binary(), "server", "stop"}, options};  // one of them tries local:
  static_cast<void>(stop.exit_code());
}
