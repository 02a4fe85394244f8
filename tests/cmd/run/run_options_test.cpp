#include "cmd/run/run_options.h"
#include "cmd/hold/request/hold_options.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

#include "base/error.h"
#include "base/log.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/parser.h"
#include "cmd/run/run_request.h"
#include "support/contains.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The options that result from the words behind `rlock run`. rlock asks no server for them, and reads no file except
/// the config files that the words name.
struct CommandLine {
  RunRequest options;
  std::string refusal;
  int status = 0;

  explicit CommandLine(const Words& words) {
    ::setenv("RLOCK_URL", "redis://h", 1);
    for (const char* name :
         {"RLOCK_CONFIG", "RLOCK_PROFILE", "RLOCK_PREFIX", "RLOCK_PASSWORD_FILE", "REDIS_URL"})
      ::unsetenv(name);
    ::setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    set_verbosity(Verbosity::quiet);
    try {
      TypedRun typed;
      VerbSpec declaration;
      declare_run(declaration, options, typed);
      Parsed parsed = parse(declaration, words);
      complete_run(options, typed, std::move(parsed.command));
    } catch (const Error& error) {
      refusal = error.what();
      status = exit_code::of(error.kind());
    }
  }
};

/// `words` between a key and a command.
CommandLine with(Words words) {
  words.insert(words.begin(), {"-k", "k"});
  words.insert(words.end(), {"--", "true"});
  return CommandLine{words};
}

struct Bad {
  Words words;
  std::string names;  ///< the message must begin with this text
};

}  // namespace

TEST_CASE("the defaults that the help names are those that count") {
  RunRequest options;
  TypedRun typed;
  VerbSpec declared;
  declare_run(declared, options, typed);
  CHECK(declared.find("lease")->standard == exact(options.lease));
  CHECK(declared.find("kill-after")->standard == exact(options.stop.kill_after));
  CHECK(declared.find("sync-replicas")->standard == std::to_string(options.sync_replicas.count));
  CHECK(declared.find("sync-timeout")->standard == exact(options.sync_replicas.timeout));
  CHECK(declared.find("conflict-exit-code")->standard == std::to_string(options.wait.conflict_exit_code));
}

TEST_CASE("in --backoff a minimum without a unit has the unit of the maximum") {
  const auto pause = [](const char* text) {
    return with({"--type", "spin", "--backoff", text}).options.type_options.backoff;
  };
  CHECK(pause("64..128ms")->least == Milliseconds{64});
  CHECK(pause("1.5..3m")->least == Milliseconds{90'000});
  CHECK(pause("1..5")->least == Milliseconds{1000});
  CHECK(pause("10ms..1")->least == Milliseconds{10});
  CHECK(pause("1..1m30s")->least == Milliseconds{1000});
  CHECK(with({"--type", "spin", "--backoff", "..128ms"}).refusal.find("--backoff: ") == 0);
}

TEST_CASE("a run without options gets the documented defaults") {
  const RunRequest options = CommandLine{{"-k", "k", "true"}}.options;
  CHECK(options.names == std::vector{LockName{"k"}});
  CHECK(options.command == Words{"true"});
  CHECK(options.type->name == "lock");
  CHECK(options.wait.conflict_exit_code == 75);
  CHECK_FALSE(options.wait.nonblock);
  CHECK_FALSE(options.wait.limit);
  CHECK_FALSE(options.wait.given);
  CHECK(options.lease == Milliseconds{30'000});
  CHECK(options.renew);
  CHECK(options.min_hold == Milliseconds{0});
  CHECK_FALSE(options.max_hold);
  CHECK(options.stop.signal == SIGTERM);
  CHECK(options.stop.kill_after == Milliseconds{5000});
  CHECK(options.budget.lost_grace == Milliseconds{5000});
  CHECK(options.stop.stop_on_loss);
  CHECK_FALSE(options.until_group);
  CHECK(options.sync_replicas.count == 0);
  CHECK(options.sync_replicas.timeout == Milliseconds{1000});
  CHECK(options.deployment.timeouts.connect == Milliseconds{2000});
  CHECK(options.deployment.timeouts.command == Milliseconds{2000});
}

TEST_CASE("a hold for reading is renewed before a dead Redisson reader beside it can have taken it along") {
  CHECK(with({"-s", "--lease", "10m"}).options.budget.renew_every == Milliseconds{10'000});
  CHECK(with({"-s", "--lease", "6s"}).options.budget.renew_every == Milliseconds{2000});
  CHECK(with({"-x", "--lease", "10m"}).options.budget.renew_every == Milliseconds{200'000});
  CHECK(with({"--owner", "me", "--lease", "10m"}).options.budget.renew_every == Milliseconds{10'000});
}

TEST_CASE(
    "a keeper renews the hold of a named owner as often, because a Java service may be the same owner") {
  HoldRequest request;
  request.type = find_lock_type("lock");
  request.lease = Milliseconds{600'000};
  request.plan_time(std::nullopt);
  CHECK(request.budget.renew_every == Milliseconds{200'000});
  request.owner = Owner{"me"};
  request.plan_time(std::nullopt);
  CHECK(request.budget.renew_every == Milliseconds{10'000});
}

TEST_CASE("the cron line of the manual sets the options that the manual explains") {
  const CommandLine line{{"-nqE0", "--min-hold", "4m", "-k", "report", "--", "/opt/report", "-n"}};
  CHECK(line.refusal.empty());
  CHECK(line.options.wait.nonblock);
  CHECK(line.options.wait.conflict_exit_code == 0);
  CHECK(line.options.min_hold == Milliseconds{240'000});
  CHECK(line.options.command == Words{"/opt/report", "-n"});
}

TEST_CASE("--count implies --type permit, as --permits does") {
  for (const char* count : {"1", "2"}) {
    const RunRequest options = with({"--count", count}).options;
    CHECK(std::string{options.type->name} == "permit");
    CHECK(std::to_string(options.type_options.count) == count);
    CHECK_FALSE(options.type_options.permits);
  }
  CHECK(with({"--count", "1", "--fair"}).refusal == "--fair: contradicts --type permit");
}

TEST_CASE("the later of -n and -w counts, and -w 0 is -n") {
  CHECK(with({"-n", "-w", "5"}).options.wait.limit == Milliseconds{5000});
  CHECK_FALSE(with({"-n", "-w", "5"}).options.wait.nonblock);
  CHECK(with({"-w", "5", "-n"}).options.wait.nonblock);
  CHECK_FALSE(with({"-w", "5", "-n"}).options.wait.limit);
  CHECK(with({"-w", "0"}).options.wait.nonblock);
  CHECK(with({"-w0ms"}).options.wait.nonblock);
  CHECK_FALSE(with({"-w", "0"}).options.wait.given);
  CHECK(with({"-n", "-w", "forever"}).options.wait.given);
  CHECK_FALSE(with({"-n", "-w", "forever"}).options.wait.nonblock);
  for (const std::string forever : {"forever", "inf", "infinity"}) {
    const CommandLine line = with({"-n", "--wait", forever});
    CHECK(line.refusal.empty());
    CHECK(line.options.wait.given);
    CHECK_FALSE(line.options.wait.limit);
    CHECK_FALSE(line.options.wait.nonblock);
  }
  CHECK(with({"--nb"}).options.wait.nonblock);
  CHECK(with({"--nonblocking"}).options.wait.nonblock);
}

TEST_CASE("several keys are sorted and each is taken once") {
  const CommandLine line{{"-k", "b", "--key", "a", "-k", "b", "--prefix", "p:", "true"}};
  CHECK(line.options.names == std::vector{LockName{"p:a"}, LockName{"p:b"}});
}

TEST_CASE("a key may be any bytes") {
  for (const std::string key : {" ", "a\nb", "\x1b[2J", "\xFF\xFE", "*?[\\", "-x", "{}x", "[a,b]"}) {
    const CommandLine line{{"--key=" + key, "true"}};
    CHECK(line.refusal.empty());
    CHECK(line.options.names == std::vector{LockName{key}});
  }
  CHECK(CommandLine{{"-k", std::string(4096, 'k'), "true"}}.refusal.empty());
}

TEST_CASE("-c runs a string by a shell") {
  CHECK(CommandLine{{"-k", "k", "-c", "a | b"}}.options.command == Words{"/bin/sh", "-c", "a | b"});
  CHECK(CommandLine{{"-k", "k", "-c", "a", "b"}}.status == 64);
  CHECK(CommandLine{{"-k", "k", "-c", ""}}.status == 64);
}

TEST_CASE("a command is required, and a key") {
  CHECK(CommandLine{{"-k", "k"}}.refusal == "no COMMAND: rlock run -k KEY [OPTIONS] [--] COMMAND [ARG...]");
  CHECK(CommandLine{{"-k", "k", "--"}}.status == 64);
  CHECK(CommandLine{{"-k", "k", "--", ""}}.refusal == "the name of the command is empty");
  CHECK(CommandLine{{}}.status == 64);
  CHECK(CommandLine{{"deploy", "./x"}}.refusal == "no --key; did you mean: rlock run -k deploy -- ./x");
  CHECK(CommandLine{{"deploy", "--", "./x", "-l"}}.refusal ==
        "no --key; did you mean: rlock run -k deploy -- ./x -l");
  CHECK(CommandLine{{"deploy"}}.refusal == "no --key; did you mean: rlock run -k deploy -- COMMAND");
  CHECK(CommandLine{{"/tmp/l", "-c", "make x"}}.refusal ==
        "no --key; did you mean: rlock run -k /tmp/l -c 'make x'");
  CHECK(CommandLine{{"--", "echo", "hi"}}.refusal == "no --key; did you mean: rlock run -k KEY -- echo hi");
  CHECK(CommandLine{{"--", "-k", "deploy"}}.refusal ==
        "no --key: rlock run -k KEY [OPTIONS] [--] COMMAND [ARG...]");
  CHECK(CommandLine{{"my key", "./x"}}.refusal == "no --key; did you mean: rlock run -k 'my key' -- ./x");
  CHECK(CommandLine{{"it's", "./x"}}.refusal == "no --key; did you mean: rlock run -k 'it'\\''s' -- ./x");
}

TEST_CASE("signals are taken by name and number") {
  CHECK(parse_signal("TERM") == SIGTERM);
  CHECK(parse_signal("SIGTERM") == SIGTERM);
  CHECK(parse_signal("15") == SIGTERM);
  CHECK(parse_signal("USR1") == SIGUSR1);
  for (const std::string junk : {"", "term", "0", "65", "SIG", "SIGSIGTERM", "-9", "9x", "+9"})
    CHECK_THROWS_AS(parse_signal(junk), Error);
}

TEST_CASE("labels accumulate, the last of a name counts") {
  const CommandLine line =
      with({"--label", "a=1", "--label=b=x=y", "--label", "a=2", "--reason", "hotfix 42"});
  CHECK(line.options.remarks.labels == std::map<std::string, std::string>{{"a", "2"}, {"b", "x=y"}});
  CHECK(line.options.remarks.reason == "hotfix 42");
}

TEST_CASE("bad values are refused in one line that names the option") {
  Words many_labels;
  for (int i = 0; i < 9; ++i)
    many_labels.insert(many_labels.end(), {"--label", fmt::format("l{}={}", i, std::string(1000, 'x'))});
  const std::vector<Bad> catalogue{
      {{"--key", ""}, "--key: a key has at least one byte"},
      {{"--key", std::string(4097, 'k')}, "--key: a key has at most 4096 bytes"},
      {{"--prefix", std::string(4096, 'p')}, "--prefix and key together have more than 4096 bytes"},
      {{"--type", "mutex"}, "--type: expected one of: "},
      {{"--type", "sem"}, "--type: a semaphore has no owner"},
      {{"-E", "256"}, "-E: expected a whole number from 0 to 255"},
      {{"-E", "-1"}, "-E: "},
      {{"-E", ""}, "-E: "},
      {{"-E", "0x10"}, "-E: "},
      {{"-E", "1e2"}, "-E: "},
      {{"-E", "+1"}, "-E: "},
      {{"-w", "-1"}, "-w: "},
      {{"-w", "Forever"}, "-w: "},
      {{"--lease", "inf"}, "--lease: "},
      {{"-w", ""}, "-w: "},
      {{"--lease", "0"}, "--lease: must be more than zero"},
      {{"--lease", "0s"}, "--lease: must be more than zero"},
      {{"--lease", "-1s"}, "--lease: "},
      {{"--lease", "-0"}, "--lease: "},
      {{"--lease", "1e3"}, "--lease: "},
      {{"--lease", "nan"}, "--lease: "},
      {{"--lease", "10 s"}, "--lease: "},
      {{"--lease", "10S"}, "--lease: "},
      {{"--lease", "10secs"}, "--lease: "},
      {{"--lease", "10m5"}, "--lease: "},
      {{"--lease", "1y"}, "--lease: "},
      {{"--lease", "1M"}, "--lease: "},
      {{"--lease", "0x10"}, "--lease: "},
      {{"--lease", "1_000"}, "--lease: "},
      {{"--lease", "1,5s"}, "--lease: "},
      {{"--lease", "\xEF\xBC\x91\xEF\xBC\x90s"}, "--lease: "},
      {{"--lease", "9223372036854775807ms"}, "--lease: "},
      {{"--fair", "--fair-wait-timeout", "999ms"}, "--fair-wait-timeout: "},
      {{"--fair-wait-timeout", "1m"}, "--fair-wait-timeout with --type lock"},
      {{"--lease", "99999999999999999999s"}, "--lease: "},
      {{"--max-hold", "0"}, "--max-hold: must be more than zero"},
      {{"--kill-after", "0"}, "--kill-after: must be more than zero"},
      {{"--min-hold", "x"}, "--min-hold: "},
      {{"--until", "always"}, "--until: expected command or group"},
      {{"--on-lost", "kill"}, "--on-lost: expected stop or warn"},
      {{"--quorum", "most"}, "--quorum: expected majority or all"},
      {{"--signal", "NOPE"}, "--signal: expected a signal: TERM, SIGTERM or 15"},
      {{"--label", "x"}, "--label: expected NAME=VALUE"},
      {{"--label", "=x"}, "--label: expected NAME=VALUE"},
      {many_labels, "--label: all labels together are longer than 8192 bytes"},
      {{"--reason", std::string(2000, 'x')}, "--reason: longer than 1024 bytes"},
      {{"--status-fd", "999"}, "--status-fd: descriptor 999 is not open"},
      {{"--status-fd", "x"}, "--status-fd: "},
      {{"--sync-replicas", "-1"}, "--sync-replicas: "},
      {{"--db", "-1"}, "--db: "},
      {{"--connect-timeout", "0"}, "--connect-timeout: must be more than zero"},
      {{"--url", "http://h"}, "--url: "},
      {{"--url", ""}, "--url: "},
      {{"--url", "redis://h:0"}, "--url: "},
      {{"--url", "redis://h:65536"}, "--url: "},
      {{"--url", "redis://h:6379x"}, "--url: "},
      {{"--url", "redis://h?tls=fasle"}, "--url: "},
      {{"--url", "redis://h/x"}, "--url: "},
      {{"--url", "redis://h", "--url", "redis://h:6379"}, "--url: redis://h:6379 is given twice"},
      {{"--url", "unix:///s", "--tls"}, "--tls: "},
      {{"--url", "redis://h", "--cacert", "/x"}, "--cacert, "},
      {{"--url", "rediss://h", "--cert", "/x"}, "--cert and --tls-key need each other"},
      {{"--no-renew=1"}, "--no-renew takes no value"},
  };
  for (const Bad& bad : catalogue) {
    const CommandLine line = with(bad.words);
    CAPTURE(bad.words.back());
    CHECK(line.status == 64);
    CHECK(line.refusal.starts_with(bad.names));
    CHECK_FALSE(contains(line.refusal, "\n"));
  }
}

TEST_CASE("options of other tools get a sentence that names rlock's option") {
  for (const std::string option :
       {"--timeout", "--ttl", "-p", "-a", "--pass", "-e", "-o", "-F", "--foreground", "--preserve-status"}) {
    const CommandLine line = with({option, "x"});
    CAPTURE(option);
    CHECK(line.status == 64);
    CHECK(line.refusal.starts_with(option + ": "));
  }
  CHECK(with({"-h", "db1"}).status == 64);
  CHECK(with({"--timeout=3"}).refusal ==
        "--timeout: did you mean --wait (for the lock) or --max-hold (for the command)?");
}

TEST_CASE("impossible combinations are configuration errors") {
  CHECK(with({"--lost-grace", "60s"}).status == 78);
  CHECK(contains(with({"--lost-grace", "60s"}).refusal, "--lease"));
  CHECK(with({"--lease", "100ms"}).status == 78);
  CHECK(with({"--min-hold", "2m", "--max-hold", "1m"}).status == 78);
  CHECK(with({"--config", "/nonexistent"}).status == 78);
}

TEST_CASE("no message repeats a password") {
  for (const std::string url : {"redis://u:CANARY@h:0", "http://u:CANARY@h", "redis://u:CANARY@h/x",
                                "rediss//u:CANARY@h", "redis://u:CAN/ARY@h", "redis://u:CANARY%zz@h"}) {
    const CommandLine line = with({"--url", url});
    CAPTURE(url);
    CHECK(line.status == 64);
    CHECK_FALSE(contains(line.refusal, "CANARY"));
    CHECK_FALSE(contains(line.refusal, "ARY@h"));
  }
}
