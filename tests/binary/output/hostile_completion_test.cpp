// A client with write access to the server chooses the words that TAB offers. No shell executes a byte of
// them, and the completed word is exactly the key.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "support/cli.h"
#include "support/installed.h"
#include "support/redis_server.h"
#include "sync/calls/keys.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A shell at its prompt, with the completion of rlock loaded. Its `rlock` only writes its arguments to a
/// file; for the completion's questions it is the real one.
class Shell {
 public:
  Shell(const std::string& name, const RedisServer& redis) : name_(name) {
    std::filesystem::create_directory(folder_ / "bin");
    std::filesystem::create_directory(folder_ / "cwd");
    write_file(folder_ / "bin/rlock",
               "#!/bin/sh\ncase $1 in complete) exec \"$REAL\" \"$@\" ;; esac\n"
               "printf '%s\\0' \"$@\" >\"$GIVEN.new\"\nmv \"$GIVEN.new\" \"$GIVEN\"\necho given\n");
    ::chmod((folder_ / "bin/rlock").c_str(), 0755);
    Process::Options options = redis.environment();
    options.env["PATH"] = folder_ / "bin" + ":" + std::getenv("PATH");
    options.env["HOME"] = folder_.path();
    options.env["REAL"] = rlock_binary();
    options.env["GIVEN"] = given();
    options.directory = folder_ / "cwd";
    shell_.emplace(words(), options);
    if (name == "zsh") shell_->type("autoload -Uz compinit; compinit -u -D\r");
    if (name == "fish") shell_->type("function fish_prompt; echo -n '$ '; end\r");
    shell_->type("source " + std::string{RLOCK_SOURCE_FOLDER} + "/completions/rlock." + name +
                 "; echo lo''aded\r");
    shell_->expect("loaded",
                   kDeadline);  // only the output says so, because the typed line contains lo''aded
    shell_->expect("$ ", kDeadline);
  }

  /// The arguments behind the verb, after `typed`, TAB and Enter.
  Words given_by(const std::string& typed) {
    std::filesystem::remove(given());
    shell_->type("rlock inspect " + typed + "\t\r");
    shell_->expect("given\r\n", kDeadline);
    shell_->expect("$ ", kDeadline);  // at the prompt the shell reads again; earlier input might be lost
    Words words = split(read_file(given()), '\0');
    words.pop_back();
    REQUIRE(words.size() >= 1);
    words.erase(words.begin());
    return words;
  }

  /// Creates a file in the shell's folder.
  void put(const std::string& name) const { write_file(folder_ / "cwd/" + name, ""); }

  bool has(const std::string& name) const { return std::filesystem::exists(folder_ / "cwd/" + name); }

  /// True: the shell has executed no part of a key, which would have left a file in the folder. Removes such files.
  bool clean() const {
    std::filesystem::remove(folder_ / "cwd/k");
    return std::filesystem::remove(folder_ / "cwd/pwned") == false &&
           std::filesystem::is_empty(folder_ / "cwd");
  }

  const std::string& screen() { return shell_->screen(); }

 private:
  std::string given() const { return folder_ / "given"; }

  Words words() const {
    if (name_ == "bash") return {"bash", "--norc", "--noprofile", "-i"};
    if (name_ == "zsh") return {"zsh", "-f", "-i"};
    return {"fish", "--no-config", "-i"};
  }

  std::string name_;
  TempDir folder_;
  std::optional<Pty> shell_;
};

/// Keys that make a shell act if they reach its command line unescaped.
const Words kActive{
    "cd`touch${IFS}pwned`",
    "k`>pwned`",
    "`>pwned`",
    "k$(>pwned)",
    "$(>pwned)",
    "k;>pwned",
    "k\";>pwned",
    "k';>pwned;'",
    "k|>pwned",
    "k&>pwned",
    "k>pwned",
    "k<(>pwned)",
    "k'\"$(>pwned)",
    "k{a,b}",
    "k*",
    "k?",
    "[k]",
    "!!",
    "k!!",
    "#k",
    "k #",
    "=ls",
    "k=$(>pwned)",
    "a:`>pwned`",
    "k\\`>pwned`",
    "k%1",
    "^k^",
    "k (>pwned)",
    "k b",
    " k",
    "$HOME",
    "\xc3\xbc`>pwned`",
};

/// Keys that cannot stand in a command line, or that would be read as an option.
const Words kUnspeakable{
    "k\ntouch pwned\n",
    "k\rtouch pwned\r",
    "k\x03",
    "k\x1b[31m",
    "k\t`touch pwned`",
    "k\xff`touch pwned`",
    "k\xc2\x9b",
    "--url=redis://127.0.0.1:1",
    "-u",
    "-ccc",
    "~/k$(>pwned)",
    "~root",
    "k\xe2\x80\xae"
    "f",
};

void offers_only(RedisServer& redis, const std::string& key) {
  redis.cli({"FLUSHALL"});
  redis.cli({"HSET", metadata_key(LockName{key}), "a:1", "{}"});
}

}  // namespace

TEST_CASE("no shell executes a key's bytes, and a completed key is that key") {
  RedisServer redis;
  for (const std::string name : {"bash", "zsh", "fish"}) {
    CAPTURE(name);
    if (!installed(name)) continue;
    Shell shell{name, redis};
    for (const std::string& key : kActive) {
      CAPTURE(key);
      offers_only(redis, key);
      CHECK(shell.given_by("") == Words{key});
      if (key.starts_with('k') || key.starts_with('c')) CHECK(shell.given_by(key.substr(0, 1)) == Words{key});
      CHECK(shell.clean());
    }
  }
}

TEST_CASE("no shell offers a key that no terminal shows or that would be an option") {
  RedisServer redis;
  for (const std::string name : {"bash", "zsh", "fish"}) {
    CAPTURE(name);
    if (!installed(name)) continue;
    Shell shell{name, redis};
    for (const std::string& key : kUnspeakable) {
      CAPTURE(sanitized(key));
      offers_only(redis, key);
      CHECK(shell.given_by("").empty());
      if (key.starts_with('k')) CHECK(shell.given_by("k") == Words{"k"});
      CHECK(shell.clean());
    }
  }
}

TEST_CASE("no shell executes the common part of several keys") {
  RedisServer redis;
  offers_only(redis, "k`>pwned`1");
  redis.cli({"HSET", metadata_key(LockName{"k`>pwned`2"}), "a:1", "{}"});
  for (const std::string name : {"bash", "zsh"}) {  // fish asks which key is meant
    CAPTURE(name);
    if (!installed(name)) continue;
    Shell shell{name, redis};
    shell.given_by("");
    shell.given_by("k\t");
    CHECK(shell.clean());
  }
}

TEST_CASE("bash completes a file's name that looks like a command as that name") {
  RedisServer redis;
  Shell bash{"bash", redis};
  bash.put("a`>pwned`");
  bash.put("b\n`>pwned`");
  bash.put("c$(>pwned) ");
  CHECK(bash.given_by("--cacert a") == Words{"--cacert", "a`>pwned`"});
  CHECK(bash.given_by("--cacert b") == Words{"--cacert", "b\n`>pwned`"});
  CHECK(bash.given_by("--cacert c") == Words{"--cacert", "c$(>pwned) "});
  CHECK(bash.given_by("--cacert=c") == Words{"--cacert=c$(>pwned) "});
  CHECK_FALSE(bash.has("pwned"));
}
