// Completions: those that are installed are those that the binary makes, and each works in its shell.

#include "cmd/completion.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "support/cli.h"
#include "support/redis_server.h"

namespace rlock::test {
namespace {

std::string source(const std::string& file) { return std::string{RLOCK_SOURCE_FOLDER} + "/" + file; }

/// An environment in which `rlock` is the one under test, and its server this one.
Process::Options shell_environment(const RedisServer& redis, const TempDir& folder) {
  if (!std::filesystem::exists(folder / "rlock"))
    std::filesystem::create_symlink(rlock_binary(), folder / "rlock");
  Process::Options options = redis.environment();
  options.env["PATH"] = folder.path() + ":" + std::getenv("PATH");
  options.env["HOME"] = folder.path();
  options.directory = folder.path();
  return options;
}

/// What bash would offer for the last word of a line, one a line: the line is taken apart as readline does, at blanks, ':' and '='.
std::string bash_offers(const RedisServer& redis, const std::string& line) {
  TempDir folder;
  std::string words;
  std::string word;
  for (const char c : line) {
    if (c == ' ' || c == ':' || c == '=') {
      if (!word.empty()) words += shell_quoted(word) + " ";
      word.clear();
      if (c != ' ') words += std::string{"'"} + c + "' ";
    } else {
      word += c;
    }
  }
  words += shell_quoted(word.empty() ? "" : word);
  const std::string script = "source " + source("completions/rlock.bash") +
                             "\nCOMP_LINE=" + shell_quoted(line) +
                             "\nCOMP_POINT=${#COMP_LINE}\nCOMP_WORDS=(" + words +
                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_rlock\n"
                             "printf '%s\\n' \"${COMPREPLY[@]}\"\n";
  Process bash{{"bash", "--norc", "--noprofile", "-c", script}, shell_environment(redis, folder)};
  REQUIRE(bash.exit_code() == 0);
  CHECK(bash.err().empty());
  return "\n" + bash.out();
}

std::string fish_offers(const RedisServer& redis, const std::string& line) {
  TempDir folder;
  const std::string script =
      "source " + source("completions/rlock.fish") + "; complete -C " + shell_quoted(line);
  Process fish{{"fish", "--no-config", "-c", script}, shell_environment(redis, folder)};
  REQUIRE(fish.exit_code(std::chrono::seconds{30}) == 0);
  return "\n" + fish.out();
}

bool offers(const std::string& offered, const std::string& word) {
  return offered.find("\n" + word + "\n") != std::string::npos ||
         offered.find("\n" + word + "\t") != std::string::npos;
}

bool installed(const std::string& shell) {
  return Process{{"sh", "-c", "command -v " + shell}}.exit_code() == 0;
}

}  // namespace

TEST_CASE(
    "the completions that are installed are those that rlock makes (RLOCK_UPDATE_COMPLETIONS=1 writes them)") {
  for (const auto& [file, text] : {std::pair{"completions/rlock.bash", bash_completion()},
                                   std::pair{"completions/rlock.zsh", zsh_completion()},
                                   std::pair{"completions/rlock.fish", fish_completion()}}) {
    if (std::getenv("RLOCK_UPDATE_COMPLETIONS") != nullptr) write_file(source(file), text);
    CHECK_MESSAGE(read_file(source(file)) == text, file);
  }
}

TEST_CASE("bash completes verbs, options, types, files and keys of a live server") {
  RedisServer redis;
  redis.cli({"HSET", "rlock:meta:{deploy}", "a:1", "{}"});
  redis.cli({"HSET", "rlock:meta:{app:nightly}", "a:1", "{}"});

  CHECK(bash_offers(redis, "rlock in") == "\ninspect\n");
  CHECK(offers(bash_offers(redis, "rlock "), "run"));
  CHECK(bash_offers(redis, "rlock lock re") == "\nrelease\nrenew\n");
  CHECK(bash_offers(redis, "rlock run --max") == "\n--max-hold\n");
  CHECK(offers(bash_offers(redis, "rlock run --type "), "fair"));
  CHECK(bash_offers(redis, "rlock run --type=fa") == "\nfair\n");
  CHECK(bash_offers(redis, "rlock run --until g") == "\ngroup\n");
  CHECK(bash_offers(redis, "rlock inspect de") == "\ndeploy\n");
  CHECK(bash_offers(redis, "rlock inspect app:ni") == "\nnightly\n");
  CHECK(bash_offers(redis, "rlock run -k de") == "\ndeploy\n");
  CHECK(bash_offers(redis, "rlock run --key=de") == "\ndeploy\n");
  CHECK(bash_offers(redis, "rlock run -nk de") == "\ndeploy\n");
  CHECK(bash_offers(redis, "rlock lock status app:") == "\nnightly\n");
  CHECK(offers(bash_offers(redis, "rlock scripts show lock/"), "lock/acquire"));
  CHECK(offers(bash_offers(redis, "rlock run -k deploy -- tru"), "true"));
}

TEST_CASE("fish completes verbs, options, types and keys") {
  if (!installed("fish")) return;
  RedisServer redis;
  redis.cli({"HSET", "rlock:meta:{deploy}", "a:1", "{}"});

  CHECK(offers(fish_offers(redis, "rlock in"), "inspect"));
  CHECK(offers(fish_offers(redis, "rlock lock re"), "release"));
  CHECK(offers(fish_offers(redis, "rlock run --max"), "--max-hold"));
  CHECK(offers(fish_offers(redis, "rlock run --type fa"), "fair"));
  CHECK(offers(fish_offers(redis, "rlock inspect de"), "deploy"));
}

TEST_CASE("zsh completes verbs, options, types and keys") {
  if (!installed("zsh")) return;
  RedisServer redis;
  redis.cli({"HSET", "rlock:meta:{deploy}", "a:1", "{}"});
  TempDir folder;
  Process::Options options = shell_environment(redis, folder);
  options.env["TERM"] = "dumb";

  Pty zsh{{"zsh", "-f", "-i"}, options};
  // ^X shows what the line has been completed to, and clears it.
  zsh.type("autoload -Uz compinit; compinit -u -D; source " + source("completions/rlock.zsh") + "\r");
  zsh.type(
      "show() { zle -I; print -r -- \"=<$BUFFER>=\"; BUFFER= }; zle -N show; bindkey '^X' show; echo lo''aded\r");
  zsh.expect("\nloaded", std::chrono::seconds{30});
  for (const auto& [typed, completed] :
       {std::pair{"rlock ins", "=<rlock inspect >="}, std::pair{"rlock lock rel", "=<rlock lock release >="},
        std::pair{"rlock run --max", "=<rlock run --max-hold"},
        std::pair{"rlock run --type fa", "=<rlock run --type fair >="},
        std::pair{"rlock inspect de", "=<rlock inspect deploy >="}}) {
    CAPTURE(typed);
    zsh.type(std::string{typed} + "\t\x18");
    zsh.expect(completed, std::chrono::seconds{30});
  }
}

}  // namespace rlock::test
