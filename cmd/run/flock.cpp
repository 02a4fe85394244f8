// rlock flock: the command line of flock(1), translated to that of rlock run. FILE, as typed, is the key. The
// lock is a read/write lock, because -s and -x of one FILE must exclude each other.
//
// rlock flock is as silent as flock(1): a cron job that finds the lock busy must not send mail.

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/ascii.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "cmd/cli/exit_code.h"
#include "cmd/hold/report/events.h"
#include "cmd/hold/report/hold_report.h"
#include "cmd/run/run.h"
#include "cmd/run/run_options.h"
#include "cmd/run/run_verbs.h"
#include "cmd/run/status_output.h"
#include "cmd/server/key_options.h"

namespace rlock {
namespace {

/// flock's exit status if the lock is busy.
constexpr int kConflict = 1;

/// flock's exit status if the command cannot be executed: EX_UNAVAILABLE.
constexpr int kNotExecuted = exit_code::unreachable;

constexpr std::string_view kNoUnlock =
    "there is nothing to unlock, because the lock lasts as long as COMMAND; to release a lock yourself: rlock "
    "lock acquire KEY --while-pid $$, then rlock lock release";

/// -u means --url in rlock and --unlock in flock; the value tells which one.
Setter url_or_unlock(Setter url) {
  return [url = std::move(url)](std::string_view value) {
    if (value.find(':') == std::string_view::npos)
      throw Error{Error::usage, fmt::format("{}; to name a server: -u URL", kNoUnlock)};
    url(value);
  };
}

/// The user's shell, which flock uses for -c.
std::string shell() { return environment_variable("SHELL").value_or("/bin/sh"); }

class Flock final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> words) override;
  void failed(const Error& error) noexcept override;

 private:
  void declare_waiting(VerbSpec& spec);
  std::vector<std::string> command_in(std::vector<std::string> words) const;
  [[noreturn]] static void refuse_descriptor(const std::string& number);

  RunRequest request_;
  TypedRun typed_;
  bool no_fork_ = false, close_ = false;
  Events events_;
  StatusOutput status_;  ///< only the events use it
  HoldReport report_;    ///< run() fills it in; after a failure it has the facts so far
};

void Flock::declare(VerbSpec& spec) {
  spec.usage = {"flock [OPTIONS] FILE COMMAND [ARG...]", "flock [OPTIONS] FILE -c 'SHELL STRING'"};
  spec.about =
      "Run COMMAND under a lock, with the command line of flock(1). FILE, as you type it, is the key of a "
      "read/write lock; rlock does not open or create the file.";
  spec.operands = {{.name = "FILE", .offer = Offer::file}};
  spec.notes =
      "rlock flock prints errors only; -v also says who holds the lock. rlock-flock(1) has more options.\n";
  spec.examples = {{"rlock flock -n /var/lock/report /opt/report", ""},
                   {"rlock flock -w 60 -E 75 /srv/data -c 'make data'", ""}};
  spec.command_follows = true;
  const auto take = [this](std::string_view type) {
    return [this, type](std::string_view) { request_.type = find_lock_type(type); };
  };
  spec.group("What to acquire");
  spec.add({.names = "-s, --shared", .help = "share the lock with others that use -s", .set = take("read")});
  spec.add({.names = "-x, -e, --exclusive",
            .help = "exclude all other holders (the default)",
            .set = take("write")});
  declare_waiting(spec);
  spec.group("Accepted, without effect");
  spec.add({.names = "-o, --close",
            .help = "COMMAND never inherits a descriptor of the lock",
            .set = into(close_)});
  spec.add(
      {.names = "-F, --no-fork",
       .help = "rlock ignores this option",
       .manual =
           "rlock keeps running beside COMMAND, because it must renew the lock and stop COMMAND in time. You "
           "cannot combine -F with -o.",
       .set = into(no_fork_)});
  spec.other_tools.push_back({"--unlock", kNoUnlock});
  declare_server_options(spec, typed_.server);
  for (Option& option : spec.groups.back().options)
    if (spec.is_one_of(option, {"url"})) option.set = url_or_unlock(std::move(option.set));
}

/// Takes -n, -w and -E of run with the names and the default status of flock. It also takes the options for events.
/// A configuration file must count for both verbs, so it takes those options of run that such a file may set. It
/// leaves out --backoff and --fair-wait-timeout, because they are for other types of lock.
void Flock::declare_waiting(VerbSpec& spec) {
  VerbSpec run;
  declare_run(run, request_, typed_);
  request_.wait.conflict_exit_code = kConflict;
  Option wait = run.option("wait");
  wait.names = "-w, --wait, --timeout";
  wait.value = "DUR";
  wait.help = "wait at most DUR: 10, 2.5, 1m30s";
  wait.manual =
      "0 means -n. The variable RLOCK_WAIT and the setting wait of rlock.conf(5) count like --wait. If none of the three "
      "is set, rlock waits for ever for a busy lock, but not for a server. If it cannot use the server, it exits with "
      "status 69, at once or after a limited time.";
  Option conflict = run.option("conflict-exit-code");
  conflict.help = "exit with N instead of 1";
  conflict.standard = "1";
  declare_nonblock_slips(spec);
  spec.group("How long to wait");
  spec.add({.names = "-n, --nb, --nonblock",
            .help = "do not wait; exit with status 1 instead",
            .set = run.option("nonblock").set});
  spec.add(wait);
  spec.add(conflict);
  for (const auto& group : run.groups) {
    for (const Option& option : group.options) {
      const bool reports = run.is_one_of(option, {"events", "syslog"});
      const bool other = run.is_one_of(option, {"wait", "backoff", "fair-wait-timeout"});
      if (other || !(option.configurable || reports)) continue;
      spec.add(option);
      spec.groups.back().options.back().hidden = !run.is_one_of(option, {"if-unreachable"});
    }
  }
}

/// `flock 9`: a number without a command is a descriptor that the shell has opened.
void Flock::refuse_descriptor(const std::string& number) {
  throw Error{
      Error::usage,
      fmt::format("{} is a descriptor, which other hosts do not have; name a FILE and a COMMAND, or take a "
                  "lock for the rest of the script: owner=$(rlock lock acquire KEY --while-pid $$) || exit",
                  number)};
}

/// The command in the words behind FILE. It may be -c STRING.
std::vector<std::string> Flock::command_in(std::vector<std::string> words) const {
  words.erase(words.begin());
  if (words.front() != "-c" && words.front() != "--command") return words;
  if (words.size() != 2)
    throw Error{Error::usage, fmt::format("{} requires exactly one command argument", words.front())};
  return {shell(), "-c", words.back()};
}

int Flock::act(TimePoint started, std::vector<std::string> words) {
  if (no_fork_ && close_) throw Error{Error::usage, "the --no-fork and --close options are incompatible"};
  if (words.size() == 1 && all_digits(words.front())) refuse_descriptor(words.front());
  if (words.size() < 2)
    throw Error{Error::usage, "COMMAND is missing: rlock flock [OPTIONS] FILE COMMAND [ARG...]"};
  if (verbosity() == Verbosity::normal) set_verbosity(Verbosity::quiet);
  if (request_.type == nullptr) request_.type = find_lock_type("write");
  request_.started = started;
  key_into(typed_.keys)(words.front());
  complete_run(request_, typed_, command_in(std::move(words)));
  report_ = report_of(request_);
  request_.die_of_its_signal = false;
  request_.not_executed = kNotExecuted;
  request_.or_script = true;
  return run(request_, report_, status_, events_);
}

void Flock::failed(const Error& error) noexcept {
  report_failed(report_, error);
  status_.write(report_);
}

}  // namespace

VerbRows flock_verbs() {
  static constexpr VerbEntry kRow{
      .name = "flock",
      .summary = "do the same, with the command line of flock(1)",
      .exits =
          "COMMAND's, or 1 busy (see -E), 69 no server or COMMAND cannot run, 124 stopped, 125 lock lost, 64 to 78 errors",
      .create = create<Flock>};
  return {&kRow, 1};
}

}  // namespace rlock
