// Completions: the candidates for each place in the line, without a shell and in each shell.

#include "cmd/app/completion.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cmd/app/shell_line.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/installed.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

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

/// The candidates that bash offers for the last word of a line, one per line. The line is split as readline
/// splits it: at blanks, ':' and '='.
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
  const std::string script = "set -eu -o pipefail; shopt -s failglob nullglob; source " +
                             source("completions/rlock.bash") + "\nCOMP_LINE=" + shell_quoted(line) +
                             "\nCOMP_POINT=${#COMP_LINE}\nCOMP_WORDS=(" + words +
                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_rlock\n"
                             "printf '%s\\n' \"${COMPREPLY[@]}\"\n";
  Process bash{{"bash", "--norc", "--noprofile", "-c", script}, shell_environment(redis, folder)};
  REQUIRE(bash.exit_code() == 0);
  CHECK(bash.err().empty());
  return "\n" + bash.out();
}

/// The candidates that fish offers for the last word of each line. fish starts slowly, so one process answers
/// for all lines.
std::vector<std::string> fish_offers_each(const RedisServer& redis, const Words& lines) {
  TempDir folder;
  std::string script = "source " + source("completions/rlock.fish");
  for (const std::string& line : lines) script += "; complete -C " + shell_quoted(line) + "; echo '#'";
  Process fish{{"fish", "--no-config", "-c", script}, shell_environment(redis, folder)};
  REQUIRE(fish.exit_code(std::chrono::seconds{60}) == 0);
  CHECK_MESSAGE(fish.err().empty(), fish.err());
  std::vector<std::string> all;
  for (const std::string& row : split(fish.out(), '#')) all.push_back("\n" + row);
  return all;
}

std::string fish_offers(const RedisServer& redis, const std::string& line) {
  return fish_offers_each(redis, {line}).front();
}

bool offers(const std::string& offered, const std::string& word) {
  return contains(offered, "\n" + word + "\n") || contains(offered, "\n" + word + "\t");
}

}  // namespace

namespace {

/// The candidates for the last word, joined by blanks, without a shell and without a server.
std::string offered_for(const Words& words) {
  std::string text;
  for (const Candidate& candidate : complete(words).words) text += candidate.word + " ";
  return text;
}

/// The words, each followed by NUL.
std::string input(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

}  // namespace

TEST_CASE("the candidates follow from the declaration of the verb") {
  CHECK(offered_for({"rlock", "lock", ""}) == "acquire release renew status wait ");
  CHECK(offered_for({"rlock", "help", "lock", ""}) == "acquire release renew status wait ");
  CHECK(offered_for({"rlock", "help", "run", ""}).empty());
  CHECK(offered_for({"rlock", "-q", "-u", "local:", "lock", ""}) == "acquire release renew status wait ");
  CHECK(offered_for({"rlock", "completion", "bash", "-"}) == "--quiet --verbose --help --version ");
  CHECK(offered_for({"rlock", "completion", "bash", "-q"}) ==
        "-q --quiet -v --verbose -h --help -V --version ");
  CHECK(offered_for({"rlock", "run", "--until", ""}) == "command group ");
  CHECK(offered_for({"rlock", "run", "-n", "--until="}) == "command group ");
  CHECK(offered_for({"rlock", "run", "-nw", ""}) == "forever ");
  CHECK(offered_for({"rlock", "nothing", ""}).empty());
  CHECK(offered_for({"rlock"}).empty());
  CHECK(offered_for({}).empty());
  CHECK(complete({"rlock", "run", "--until="}).kept == 8);
  CHECK(complete({"rlock", "run", "-nkde"}).kept == 3);
  CHECK(complete({"rlock", "run", "-nkde"}).offer == Offer::key);
  CHECK(complete({"rlock", "run", "--count", "2", "-k", ""}).offer == Offer::counter);
  CHECK(complete({"rlock", "run", "--cacert", ""}).offer == Offer::file);
  CHECK(complete({"rlock", "run", "--cacertdir", ""}).offer == Offer::folder);
  for (const auto& candidate : complete({"rlock", "run", "--max-h"}).words)
    if (candidate.word == "--max-hold")
      CHECK(candidate.meaning == "stop COMMAND after DUR and exit with status 124");
}

TEST_CASE("a command completes by itself from its first word on") {
  CHECK(complete({"rlock", "run", "-k", "a", ""}).command == 4U);
  CHECK(complete({"rlock", "run", "-k", "a", "--", ""}).command == 5U);
  CHECK(complete({"rlock", "run", "-k", "a", "--", "-x"}).command == 5U);
  CHECK(complete({"rlock", "run", "-k", "a", "ls", "-x"}).command == 4U);
  CHECK(complete({"rlock", "run", "-k", "a", "-", "-x"}).command == 4U);
  CHECK(complete({"rlock", "flock", "f", ""}).command == 3U);
  CHECK(complete({"rlock", "flock", "f", "--", "ls", ""}).command == 4U);
  CHECK_FALSE(complete({"rlock", "run", "-k", "a", "-"}).command);
  CHECK_FALSE(complete({"rlock", "flock", ""}).command);
  CHECK_FALSE(complete({"rlock", "inspect", "--", ""}).command);
}

TEST_CASE("a completion asks the server and for the key that the line names") {
  const Completion found = complete({"rlock", "--tls", "lock", "release", "-u", "redis://a", "--askpass",
                                     "-v", "k", "--prefix=p:", "--owner", ""});
  CHECK(found.offer == Offer::owner);
  CHECK(found.key == "k");
  CHECK(found.server == Words{"--tls", "--url=redis://a", "--prefix=p:"});
  CHECK(complete({"rlock", "lock", "release", "-kk", "x", "--owner", ""}).key == "k");
}

TEST_CASE("bash gets the part that readline replaces, quoted") {
  const auto answer = [](const Words& given, const Words& words) {
    const ShellLine line{"bash", input(given)};
    Completion found = complete(line.words());
    for (const std::string& word : words) found.words.push_back({word});
    return line.answer(found);
  };
  CHECK(answer({"rlock inspect a", "rlock", "inspect", "a"}, {"a b", "a`c`", "x"}) ==
        "words 0\na\\ b\na\\`c\\`\n");
  CHECK(answer({"rlock inspect a\\ ", "rlock", "inspect", "a\\ "}, {"a b", "a`c`"}) == "words 0\na\\ b\n");
  CHECK(answer({"rlock inspect app:ni", "rlock", "inspect", "app", ":", "ni"}, {"app:night"}) ==
        "words 0\nnight\n");
  CHECK(answer({"rlock run --key=", "rlock", "run", "--key", "="}, {"a:b"}) == "words 6\na:b\n");
  CHECK(answer({"rlock run --key=a:", "rlock", "run", "--key", "=", "a", ":"}, {"a:b"}) == "words 6\nb\n");
  CHECK(answer({"rlock run --key=a", "rlock", "run", "--key=a"}, {"a:b"}) == "words 6\n--key=a:b\n");
  CHECK(answer({"rlock run -k a:b l", "rlock", "run", "-k", "a", ":", "b", "l"}, {}) == "command 6\n");
  CHECK(answer({"rlock ins", "rlock", "inspect"}, {}) == "words 0\ninspect\n");  // the cursor is in the word
  CHECK(answer({}, {}) == "words 0\n");
}

TEST_CASE("zsh and fish get each word with its description") {
  Completion found{.words = {{"a:b", "it"}, {"c\\d"}}, .kept = 6};
  CHECK(ShellLine{"zsh", input({"rlock", "run", "--key="})}.answer(found) == "words 6\na\\:b:it\nc\\\\d\n");
  CHECK(ShellLine{"fish", input({"rlock", "run", "--key="})}.answer(found) ==
        "words 6\n--key=a:b\tit\n--key=c\\d\t\n");
}

TEST_CASE("rlock completion prints the files that are installed") {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    Rlock printed{{"completion", shell}};
    CHECK(printed.exit_code() == 0);
    CHECK_MESSAGE(printed.out() == read_file(source("completions/rlock." + shell)), shell);
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

namespace {

/// Makes the keys for the rows below: an untouched pool, semaphore and latch, a lock with a known owner, and two
/// keys below a prefix. Another program has a text, which no verb for semaphores may offer.
void furnish(RedisServer& redis) {
  for (const Words& words :
       {Words{"permit", "init", "seats", "3"}, Words{"sem", "init", "slots", "3"},
        Words{"latch", "set", "built", "3"},
        Words{"lock", "acquire", "held", "--lease", "1h", "--owner", "me-1"},
        Words{"lock", "acquire", "app:deploy", "--lease", "1h"}, Words{"sem", "init", "app:seats", "3"}})
    REQUIRE(Rlock{words, redis.environment()}.exit_code() == 0);
  redis.cli({"DEL", "rlock:meta:{built}"});
  redis.cli({"SET", "text", "seats"});
  write_file(redis.directory() + "/profiles", "[staging]\nprefix = app:\n");
}

/// A typed line, and the word that must be offered for it; with "!" in front: the word that must not be
/// offered.
struct Offered {
  std::string line;
  std::string word;
};

std::vector<Offered> rows(const RedisServer& redis) {
  const std::string url = redis.url();
  return {
      {"rlock permit status se", "seats"},
      {"rlock permit acquire --lease 1m se", "seats"},
      {"rlock sem acquire sl", "slots"},
      {"rlock latch wait bu", "built"},
      {"rlock inspect se", "seats"},
      {"rlock run --permits 3 -k se", "seats"},
      {"rlock run -k se", "!seats"},
      {"rlock lock acquire se", "!seats"},
      {"rlock sem acquire te", "!text"},
      {"rlock scripts show lock/ac", "lock/acquire"},
      {"rlock scripts show latch/se", "latch/set"},
      {"rlock run --signal TE", "TERM"},
      {"rlock run --signal US", "USR1"},
      {"rlock run --wait fo", "forever"},
      {"rlock unlock held --if-owner m", "me-1"},
      {"rlock lock release held --owner m", "me-1"},
      {"rlock lock release -k held --owner m", "me-1"},
      {"rlock lock release seats --owner m", "!me-1"},
      {"rlock inspect --prefix app: de", "deploy"},
      {"rlock sem status --prefix app: se", "seats"},
      {"rlock --prefix app: inspect de", "deploy"},
      {"rlock -q -u " + url + " ins", "inspect"},
      {"rlock -u " + url + " lock rel", "release"},
      {"rlock -u " + url + " inspect he", "held"},
      {"rlock -u " + url + " lock status he", "held"},
      {"rlock run --config " + redis.directory() + "/profiles --profile st", "staging"},
      {"rlock inspect --config " + redis.directory() + "/profiles --profile ", "staging"},
      {"rlock inspect --config " + redis.directory() + "/profiles --profile staging de", "deploy"},
      {"rlock --connect", "--connect-timeout"},
      {"rlock help ins", "inspect"},
      {"rlock ver", "version"},
      {"rlock run -k held -- printen", "printenv"},
      {"rlock run -k held printen", "printenv"},
      {"rlock run -nk held -- printen", "printenv"},
      {"rlock run -k held -- rlock ins", "inspect"},
      {"rlock run -k held -- ls --max", "!--max-hold"},
      {"rlock run -k held ls --max", "!--max-hold"},
      {"rlock run -n --max", "--max-hold"},
  };
}

}  // namespace

TEST_CASE("bash offers idle pools, owners of the key, keys under the prefix, signals, scripts and commands") {
  RedisServer redis;
  furnish(redis);
  for (const auto& [line, word] : rows(redis)) {
    CAPTURE(line);
    if (contains(line, "-- rlock")) continue;  // needs the package bash-completion
    const std::string offered = bash_offers(redis, line);
    CHECK_MESSAGE(offers(offered, word.starts_with('!') ? word.substr(1) : word) != word.starts_with('!'),
                  offered);
  }
}

TEST_CASE("fish offers idle pools, owners of the key, keys under the prefix, signals, scripts and commands") {
  if (!installed("fish")) return;
  RedisServer redis;
  furnish(redis);
  const std::vector<Offered> all = rows(redis);
  Words lines;
  for (const Offered& row : all) lines.push_back(row.line);
  const std::vector<std::string> offered = fish_offers_each(redis, lines);
  REQUIRE(offered.size() > all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].line);
    const bool none = all[i].word.starts_with('!');
    CHECK_MESSAGE(offers(offered[i], none ? all[i].word.substr(1) : all[i].word) != none, offered[i]);
  }
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

TEST_CASE("a shell is silent about an rlock that cannot complete, and about a server that does not answer") {
  RedisServer redis;
  TempDir folder;
  write_file(folder / "rlock", "#!/bin/sh\necho out of date >&2\nexit 64\n");
  std::filesystem::permissions(folder / "rlock", std::filesystem::perms::owner_all);
  Process::Options options = shell_environment(redis, folder);
  const std::string ask =
      "; COMP_LINE='rlock inspect x'; COMP_POINT=15; COMP_WORDS=(rlock inspect x); COMP_CWORD=2; _rlock; "
      "echo \"offered ${#COMPREPLY[@]}\"";
  const Words bash{"bash", "--norc", "--noprofile", "-euc",
                   "source " + source("completions/rlock.bash") + ask};
  const auto said = [&](const Words& words) {
    Process shell{words, options};
    CHECK(shell.exit_code(std::chrono::seconds{60}) == 0);
    return shell.out() + shell.err();
  };
  CHECK(said(bash) == "offered 0\n");
  if (installed("fish"))
    CHECK(said({"fish", "--no-config", "-c",
                "source " + source("completions/rlock.fish") + "; complete -C 'rlock ins'"}) == "");

  std::filesystem::remove(folder / "rlock");
  options = shell_environment(redis, folder);
  redis.freeze();
  CHECK(said(bash) == "offered 0\n");
  redis.thaw();
}

TEST_CASE("bash asks the rlock that was typed by its path if PATH has none") {
  TempDir folder;
  Process::Options options;
  options.env["PATH"] = "/usr/bin:/bin";
  options.directory = folder.path();
  const Words words{"bash", "--norc", "--noprofile", "-c",
                    "source " + source("completions/rlock.bash") + "; type() { return 1; }; COMP_LINE='" +
                        rlock_binary() + " ins'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(" + rlock_binary() +
                        " ins); COMP_CWORD=1; _rlock; echo \"${COMPREPLY[@]}\""};
  Process bash{words, options};
  CHECK(bash.exit_code() == 0);
  CHECK(bash.out() == "inspect\n");
}

TEST_CASE("zsh completes verbs, options, types and keys") {
  if (!installed("zsh")) return;
  RedisServer redis;
  redis.cli({"HSET", "rlock:meta:{deploy}", "a:1", "{}"});
  TempDir folder;
  Process::Options options = shell_environment(redis, folder);
  options.env["TERM"] = "dumb";

  Pty zsh{{"zsh", "-f", "-i"}, options};
  // ^X prints the completed line and clears it.
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
  furnish(redis);
  for (const auto& [line, word] : rows(redis)) {
    CAPTURE(line);
    if (word == "USR1") continue;  // USR1 and USR2 share their first letters, so zsh completes no further
    const bool none = word.starts_with('!');
    zsh.type(line + "\t\x18");
    zsh.expect("=<" + (none ? line + ">=" : line.substr(0, line.rfind(' ') + 1) + word),
               std::chrono::seconds{30});
  }
}
