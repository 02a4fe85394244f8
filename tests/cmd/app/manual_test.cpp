// The manual pages: their options are those of the parser, and their examples work.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cmd/app/offered_options.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/parser.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/manual.h"
#include "support/redis_server.h"
#include "support/skipped.h"

using namespace rlock::test;

namespace {

/// The folder of the sources. CMake compiles its path into this file.
std::filesystem::path source_folder() { return std::filesystem::path{RLOCK_SOURCE_FOLDER}; }

std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator{source_folder() / "man"}) {
    if (std::set<std::string>{".1", ".5", ".7"}.contains(entry.path().extension()))
      all.push_back(entry.path());
  }
  std::ranges::sort(all);
  return all;
}

/// The escapes that roff needs for bytes with a meaning of their own.
const std::vector<std::pair<std::string, std::string>> kEscapes{
    {"\\-", "-"}, {"\\(aq", "'"}, {"\\(dq", "\""}, {"\\&", ""}, {"\\e", "\\"}};

std::string plain(std::string line) {
  for (const auto& [from, to] : kEscapes) {
    for (std::size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size())
      line.replace(at, from.size(), to);
  }
  return line;
}

/// The purpose of each verb, as the section NAME of its page states it.
std::map<std::string, std::string> purposes() {
  const std::regex name{R"(\.SH NAME\nrlock-([a-z]+) - ([^\n]+)\n)"};
  std::map<std::string, std::string> all;
  for (const auto& path : pages()) {
    const std::string page = plain(read_file(path));
    std::smatch found;
    if (path.extension() == ".1" && std::regex_search(page, found, name)) all.emplace(found[1], found[2]);
  }
  return all;
}

/// Where the section EXAMPLES begins and how long it is; without that section: the end of the page, and 0.
std::pair<std::size_t, std::size_t> examples_section(const std::string& page) {
  const std::size_t begin = std::min(page.find(".SH EXAMPLES"), page.size());
  const std::size_t end = std::min(page.find("\n.SH ", begin), page.size());
  return {begin, end - begin};
}

/// The scripts of the section EXAMPLES: the text between .EX and .EE, as a shell gets it.
std::vector<std::string> examples(const std::string& page) {
  std::vector<std::string> all;
  const auto [begin, size] = examples_section(page);
  std::istringstream lines{page.substr(begin, size)};
  std::string script;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == ".EE") all.push_back(std::exchange(script, ""));
    if (line == ".EX" || line == ".EE") {
      inside = line == ".EX";
      continue;
    }
    if (inside) script += plain(line) + "\n";
  }
  return all;
}

/// Makes a stand-in for a command that the examples run.
void provide(const TempDir& folder, const std::string& name) {
  write_file(folder / name, "#!/bin/sh\nexit 0\n");
  std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
}

/// A page without the sections that the parser's options generate.
std::string prose(const std::string& page) {
  std::istringstream lines{page};
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".\\\" options of ")) inside = true;
    if (!inside) text += plain(line) + "\n";
    if (line == ".\\\" end of options") inside = false;
  }
  return text;
}

/// The id of an owner, and of a permit.
const std::string kSomeId(32, '0');

/// A value that the option accepts, chosen by the placeholder on its page.
std::string value_for(const rlock::Option& option) {
  const std::map<std::string, std::string> values{{"DUR", "1s"},
                                                  {"DUR|forever", "forever"},
                                                  {"N", "1"},
                                                  {"M", "1"},
                                                  {"KEY", "k"},
                                                  {"SIG", "TERM"},
                                                  {"TEXT", "x"},
                                                  {"STR", "x"},
                                                  {"NAME", "x"},
                                                  {"K=V", "a=b"},
                                                  {"F", "/dev/null"},
                                                  {"FILE", "/dev/null"},
                                                  {"D", "/dev"},
                                                  {"URL", "local:"},
                                                  {"ID", kSomeId},
                                                  {"PID", std::to_string(::getpid())},
                                                  {"H", "h"},
                                                  {"MIN..MAX", "1ms..2ms"},
                                                  {"STRING", "true"},
                                                  {"FILE|FD", "/dev/null"},
                                                  {"SOCKET", "/dev/log"}};
  if (option.offer == rlock::Offer::choices) return rlock::split(option.choices, ' ').front();
  const auto value = values.find(std::string{option.value});
  REQUIRE_MESSAGE(value != values.end(), option.names);
  return value->second;
}

/// Words that the operands of a verb take.
Words operands_for(const rlock::VerbSpec& told) {
  const std::map<std::string, std::string> values{
      {"KEY", "k"}, {"N", "1"}, {"ID", kSomeId}, {"NAME", "lock/acquire"}, {"VERB", "run"}};
  if (told.command_follows) return {"true"};
  Words words;
  for (const rlock::Operand& operand : told.operands)
    if (!operand.optional) words.push_back(values.at(std::string{operand.name}));
  return words;
}

/// Types one option, as its page shows it, behind a verb.
void type_option(const std::string& verb, const std::string& name, const rlock::Option& option) {
  CAPTURE(verb);
  CAPTURE(name);
  const auto made = rlock::find_verb(verb)->make();
  const rlock::VerbSpec told = made->spec();
  Words words{name};
  if (!option.value.empty()) words.push_back(value_for(option));
  const Words operands = operands_for(told);
  // An option that stands for an operand takes that operand's place.
  const bool key = name == "-k" || name == "--key";
  words.insert(words.end(), operands.begin() + (key && !told.command_follows ? 1 : 0), operands.end());
  CHECK_NOTHROW(static_cast<void>(rlock::parse(told, words)));
  rlock::set_verbosity(rlock::Verbosity::normal);
}

}  // namespace

TEST_CASE("mandoc and man find nothing wrong with any page") {
  const auto said_by = [](const std::string& script) {
    Words words{"/bin/sh", "-c", script, "sh"};
    for (const auto& path : pages()) words.push_back(path.string());
    Process shell{words, Rlock::clean_environment()};
    const int status = shell.exit_code(std::chrono::seconds{60});
    return status == 0 ? shell.out() : "exit status " + std::to_string(status) + ": " + shell.out();
  };
  CHECK(said_by("for page; do man --warnings -E UTF-8 -l -Tutf8 -Z \"$page\" 2>&1 >/dev/null; done") == "");
  if (said_by("command -v mandoc >/dev/null") != "") return skipped("there is no mandoc: .ci/setup tests");
  CHECK(said_by("mandoc -T lint -W warning \"$@\"") == "");
}

TEST_CASE("the options in the manual are those of the parser (RLOCK_UPDATE_MANUAL=1 writes them)") {
  REQUIRE_FALSE(pages().empty());
  const auto verbs = purposes();
  for (const auto& path : pages()) {
    CAPTURE(path.filename().string());
    const std::string page = read_file(path);
    const std::string fresh = with_fresh_parts(page, verbs);
    if (std::getenv("RLOCK_UPDATE_MANUAL") != nullptr && page != fresh) write_file(path, fresh);
    CHECK(read_file(path) == fresh);
  }
}

TEST_CASE("every verb has a page, and the page explains all its own options") {
  std::string all;
  for (const auto& path : pages()) all += read_file(path);
  for (const rlock::VerbEntry* entry : rlock::verbs()) {
    const std::string name{entry->name};
    CAPTURE(name);
    CHECK(std::filesystem::exists(source_folder() / "man" /
                                  ("rlock-" + name.substr(0, name.find(' ')) + ".1")));
    if (!manual_options(name).empty()) CHECK(contains(all, ".\\\" options of " + name + "\n"));
  }
}

TEST_CASE("rlock(1) names every verb, every page and every way in which a verb ends by 124") {
  const std::string page = plain(read_file(source_folder() / "man/rlock.1"));
  const std::string verbs = page.substr(page.find(".SS Verbs"), page.find(".SH OPTIONS"));
  for (const rlock::VerbEntry* entry : rlock::verbs())
    CHECK_MESSAGE(
        contains(verbs, ".BR rlock-" + std::string{entry->name.substr(0, entry->name.find(' '))} + " (1)\n"),
        entry->name);
  const std::string others = page.substr(page.find(".SH SEE ALSO"));
  for (const auto& path : pages()) {
    const std::string section = path.extension().string().substr(1);
    if (path.filename() != "rlock.1")
      CHECK_MESSAGE(contains(others, ".BR " + path.stem().string() + " (" + section + ")"), path);
  }
  CHECK(contains(page, "\n124\trun, flock: stopped by --max-hold, or by rlock stop\n"));
}

TEST_CASE("every page of a verb that waits says how long the verb waits without options") {
  for (const rlock::VerbEntry* entry : rlock::verbs()) {
    const auto made = entry->make();
    const rlock::VerbSpec told = made->spec();
    const rlock::Option* wait = told.find("wait");
    if (wait == nullptr || told.verb == "stop")
      continue;  // it has a limit of its own, and its page states
                 // it
    CAPTURE(entry->name);
    CHECK(contains(wait->manual, "for ever"));
  }
  const std::string run = prose(read_file(source_folder() / "man/rlock-run.1"));
  const std::string first = run.substr(run.find(".SH DESCRIPTION"), 300);
  CHECK(contains(first, "waits for ever"));
}

TEST_CASE("every option has a text in the manual, even if no help screen shows it") {
  for (const auto& path : pages()) {
    CAPTURE(path.filename().string());
    CHECK_FALSE(contains(read_file(path), "\\fR\n\n"));
  }
  const std::string run = manual_options("run");
  for (const char* option : {"\\fB\\-\\-command\\fR", "\\fB\\-\\-count\\fR"}) CHECK(contains(run, option));
}

TEST_CASE("every option that a page promises is taken by its verb") {
  const auto type_all = [](const std::string& verb, const std::string& options) {
    const auto made = rlock::find_verb(verb)->make();
    const rlock::VerbSpec told = made->spec();
    std::istringstream lines{options};
    for (std::string line; std::getline(lines, line);) {
      line = plain(line);
      // "\\fB-w\\fR, \\fB--wait\\fR \\fIDUR\\fR"
      for (std::size_t at = 0;
           line.starts_with("\\fB-") && (at = line.find("\\fB", at)) != std::string::npos;) {
        const std::size_t end = line.find("\\fR", at);
        const std::string name = line.substr(at + 3, end - at - 3);
        at = end;
        const rlock::Option* option = told.find(name.substr(name.starts_with("--") ? 2 : 1));
        REQUIRE_MESSAGE(option != nullptr, verb, " refuses ", name);
        type_option(verb, name, *option);
      }
    }
  };
  const std::string all = read_file(source_folder() / "man/rlock.1");
  for (const rlock::VerbEntry* entry : rlock::verbs()) {
    const std::string verb{entry->name};
    CAPTURE(verb);
    type_all(verb, manual_options(verb));
    const auto made = entry->make();
    const rlock::VerbSpec told = made->spec();
    for (const char* name : {"-q", "--quiet", "-v", "--verbose"}) type_option(verb, name, {.names = name});
    const std::string noun = verb.substr(0, verb.find(' '));
    const std::string page = prose(read_file(source_folder() / "man" / ("rlock-" + noun + ".1")));
    if (told.find("url")) {
      type_all(verb, manual_options("server"));
      CHECK(contains(page, "every verb that talks to a server"));
    } else {
      const std::string others = all.substr(all.find("The other verbs are"), 200);
      CHECK_MESSAGE((contains(others, verb) || contains(others, noun)), others);
      if (noun != "scripts") CHECK_FALSE(contains(page, "every verb that talks to a server"));
    }
  }
}

TEST_CASE("no page names an unknown option, or one that its verb refuses") {
  std::set<std::string> known{"--help", "--version", "-h", "-V", "--opt"};
  std::map<std::string, std::set<std::string>> of_verb;
  for (const rlock::VerbEntry* entry : rlock::verbs()) {
    const auto made = entry->make();
    for (const auto& group : made->spec().groups) {
      for (const rlock::Option& option : group.options)
        for (const std::string& name : rlock::spelled_names(option))
          of_verb[std::string{entry->name}].insert(name);
    }
    known.merge(std::set<std::string>{of_verb[std::string{entry->name}]});
  }
  const std::regex option{R"((rlock ([a-z]+)( [a-z]+)?( [a-zA-Z"$]+)? )?(--[a-z][a-z-]*[a-z]))"};
  for (const auto& path : pages()) {
    CAPTURE(path.filename().string());
    std::string page = prose(read_file(path));
    const auto [begin, size] = examples_section(page);
    page.erase(begin, size);
    for (std::sregex_iterator at{page.begin(), page.end(), option}, end; at != end; ++at) {
      CAPTURE(at->str());
      CHECK(known.contains(at->str(5)));
      for (const std::string& verb : {at->str(2), at->str(2) + at->str(3)}) {
        if (of_verb.contains(verb)) CHECK(of_verb[verb].contains(at->str(5)));
      }
    }
  }
}

TEST_CASE("the examples of every help screen, and the lines for cron and systemd, are understood") {
  RedisServer redis;
  TempDir folder;
  // This rlock writes its exit status to a file: behind a pipe the shell does not show it.
  write_file(
      folder / "rlock",
      "#!/bin/bash\ntimeout 1 \"$REAL\" \"$@\"\nstatus=$?\necho \"$status\" >>\"$STATUS\"\nexit \"$status\"\n");
  std::filesystem::permissions(folder / "rlock", std::filesystem::perms::owner_all);
  for (const char* name : {"make", "work", "job", "restic"}) provide(folder, name);
  Process::Options options = redis.environment();
  options.env["PATH"] = folder.path() + ":" + std::getenv("PATH");
  options.env["REAL"] = rlock_binary();
  options.env["STATUS"] = folder / "status";
  options.env["owner"] = "o:1";
  options.env["id"] = std::string(32, '0');
  options.env["CI_JOB_ID"] = "1";
  options.env["HOME"] = folder.path();
  options.env["XDG_STATE_HOME"] = folder.path();
  options.directory = folder.path();
  Words lines;
  for (const rlock::VerbEntry* entry : rlock::verbs()) {
    const auto made = entry->make();
    for (const auto& example : made->spec().examples) lines.emplace_back(example.line);
  }
  for (const auto& path : pages()) {
    for (const std::string& line : rlock::split(prose(read_file(path)), '\n')) {
      if (line.starts_with("ExecStart=")) lines.push_back(line.substr(10));
    }
  }
  for (std::string line : lines) {
    if (line.starts_with("*/5 * * * * ")) line = line.substr(12);
    CAPTURE(line);
    write_file(folder / "status", "");
    redis.cli({"FLUSHALL"});
    Process shell{{"bash", "-c", line}, options};
    static_cast<void>(shell.exit_code(std::chrono::seconds{30}));
    const std::string answers = "\n" + read_file(folder / "status");
    CHECK_FALSE(answers == "\n");
    // A command that draws on a terminal refuses to run without one, but its line is understood.
    const bool wants_terminal = shell.err() == "rlock: this is no terminal; use rlock list\n";
    CHECK_MESSAGE((wants_terminal || !contains(answers, "\n64\n")), shell.err());
  }
  static_cast<void>(Process{{rlock_binary(), "server", "stop"}, options}.exit_code());
}

TEST_CASE("man finds nothing to warn about") {
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
  options.env["CI_JOB_ID"] = "1";
  options.directory = folder.path();
  for (const auto& path : pages()) {
    CAPTURE(path.filename().string());
    const std::vector<std::string> scripts = examples(read_file(path));
    if (path.extension() != ".7")
      CHECK_FALSE(scripts.empty());  // pages of section 7 explain, and need no
                                     // scripts
    for (const std::string& script : scripts) {
      CAPTURE(script);
      Process shell{{"sh", "-eu", "-c", script}, options};
      const int status = shell.exit_code(std::chrono::seconds{60});
      INFO(shell.err());
      CHECK(status == 0);
      redis.cli({"FLUSHALL"});
    }
  }
  Process stop{{rlock_binary(), "server", "stop"}, options};  // one of the examples tries local:
  static_cast<void>(stop.exit_code());
}
