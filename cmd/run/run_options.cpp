#include "cmd/run/run_options.h"

#include "cmd/hold/request/backoff_option.h"
#include "cmd/hold/request/hold_options.h"
#include "cmd/hold/request/inner_hold.h"
#include "cmd/run/report_options.h"
#include "cmd/server/key_options.h"

namespace rlock {
namespace {

void declare_what(VerbSpec& spec, RunRequest& request, TypedRun& typed) {
  spec.group("What to acquire");
  spec.add(
      {.names = "-k, --key",
       .value = "KEY",
       .help = "acquire KEY; if repeated, all keys or none",
       .manual =
           "KEY is 1 byte to 4 KiB long and may have any bytes. rlock acquires several keys in the order of "
           "their names, so that no two runs wait for each other. In a Cluster, the keys may be in several slots. "
           "A key that you give twice counts once. Never use both x and {x} as keys: as in Redisson, they share "
           "their queue, their fence and their records. One run takes at most 1000 keys, which "
           "have at most 64 KiB together.",
       .offer = Offer::key,
       .no_dash = true,
       .set = key_into(typed.keys)});
  const TakeType take = [&request, &typed](const LockType& meant, std::string_view word) {
    refuse_other_type(request.type, meant);
    if (!request.type) {
      typed.type = word;
      typed.keys_before_type = typed.keys.size();
    }
    request.type = &meant;
  };
  declare_type_switches(spec, take);
  declare_permits(spec, request, take);
  declare_type(spec, take);
  spec.add(
      {.names = "--owner",
       .value = "ID",
       .manual =
           "Run COMMAND inside the hold of owner ID: KEY is busy until both have released it. Use it if an earlier step of a "
           "CI job has acquired KEY with rlock lock acquire. If the owner no longer holds KEY, rlock does not "
           "run COMMAND and exits with status 75. rlock renews the hold at least every 10s, because its owner may be a "
           "Java service, whose renewal cuts the TTL to 30s.",
       .offer = Offer::owner,
       .hidden = true,
       .set = [&request](std::string_view text) {
         const Owner owner = parse_owner(text);
         const auto inner = inner_hold_in(owner);
         request.joining.inside = inner ? inner->owner : owner;
       }});
}

void declare_once_per(VerbSpec& spec, RunRequest& request) {
  spec.add(
      {.names = "--once-per",
       .value = "DUR",
       .help = "let COMMAND succeed once in DUR over all hosts",
       .manual =
           "If COMMAND exits with status 0, the server keeps the key, marked as done, until the server's clock shows DUR "
           "after the acquire. rlock itself writes the mark: if rlock is killed or loses the lock before, another run "
           "does the work again. rlock loses the lock if it is suspended, or the server does not answer, for longer than "
           "the lease. A run that finds the mark, at once or while it waits, does not run "
           "COMMAND and exits with status 0. On a terminal or with -v, it says which run did the work. After "
           "any other exit status rlock releases the key at once, and the next host tries. Clients of Redisson "
           "see a lock that is held. To let the work be done again, remove the key with rlock unlock. The "
           "option needs one key of type lock, fair or fenced on one server. You cannot combine it with "
           "--min-hold or --owner, or use it in a run that is nested in a hold of the key.",
       .set = into(request.once_per)});
}

void declare_hold(VerbSpec& spec, RunRequest& request) {
  spec.group("How long to hold");
  spec.add(
      {.names = "--lease",
       .value = "DUR",
       .help = "let the lock expire DUR after its last renewal",
       .standard = "30s",
       .manual =
           "If rlock dies with its host, others wait at most this long. rlock renews the lock three times per "
           "lease. It renews a lock for reading at least every 10s, because the renewal of a Redisson reader "
           "cuts the TTL of all readers to 30s. If the server does not answer for most of a lease, rlock stops COMMAND "
           "before the lock can end. RLOCK_LEASE in the environment and lease in rlock.conf(5) "
           "set another default.",
       .set = into(request.lease),
       .configurable = true,
       .variable = "RLOCK_LEASE"});
  spec.add(
      {.names = "--max-hold",
       .value = "DUR",
       .help = "stop COMMAND after DUR and exit with status 124",
       .manual =
           "DUR counts from the acquire. rlock run sends its --signal, rlock flock sends TERM. KILL comes "
           "after --kill-after. rlock renews the lock until the whole process group has ended. Default: no limit.",
       .set = into(request.max_hold),
       .configurable = true});
  spec.add(
      {.names = "--min-hold",
       .value = "DUR",
       .help = "keep the key until DUR after the acquire",
       .manual =
           "If COMMAND ends sooner, rlock ends too, and the server keeps the key for the rest of DUR by its own "
           "clock. So a host whose clock is late does not run the same job again. If COMMAND could not start "
           "(status 126 or 127 of rlock), if rlock stop ended it, or if the lock was lost, rlock does not keep the "
           "key. If COMMAND itself exits with 126 or 127, the server keeps the key. DUR cannot be longer than "
           "--max-hold. Default: 0.",
       .set = zero_or_more(request.min_hold)});
  declare_once_per(spec, request);
  spec.add(
      {.names = "--no-renew",
       .help = "do not renew: stop COMMAND before the lease ends",
       .manual =
           "rlock asks three times per lease whether the lock is its own, and stops COMMAND if it is not. "
           "If COMMAND runs too long, rlock exits with status 125. With the default lease, rlock sends --signal "
           "after 24.4s, and KILL after 29.4s.",
       .set = [&request](std::string_view) { request.renew = false; }});
  spec.add(
      {.names = "--until",
       .value = "command|group",
       .help = "release when COMMAND or its group has ended",
       .standard = "command",
       .manual =
           "With group, rlock also waits for the processes that COMMAND leaves behind in its process group. With "
           "command, it prints their process ids after the release.",
       .offer = Offer::choices,
       .choices = "command group",
       .set = one_of(request.until_group, "command group", {false, true})});
}

void declare_stop(VerbSpec& spec, RunRequest& request, TypedRun& typed) {
  spec.group("How to stop COMMAND");
  declare_signal(
      spec, request,
      "Send SIG to the process group of COMMAND to stop it. SIG is a name or a number: TERM, SIGTERM or 15.",
      "Send KILL if COMMAND still runs DUR after it got the signal of --max-hold or of rlock stop.");
  spec.add(
      {.names = "--lost-grace",
       .value = "DUR",
       .manual =
           "If the lock is lost, rlock sends --signal, waits DUR, and sends KILL. DUR can be a little less than half the "
           "lease: 14.4s of 30s. Default: --kill-after if that fits, else a sixth of the lease.",
       .set = into(typed.lost_grace)});
  declare_on_lost(
      spec, request, "stop COMMAND or warn if the lock is lost",
      "With warn, rlock prints a message and lets COMMAND go on. When COMMAND ends, rlock exits with status 125.");
}

void declare_rare(VerbSpec& spec, RunRequest& request) {
  spec.group("Rarely needed");
  spec.add(
      {.names = "--on-deadlock",
       .value = "give-up|wait",
       .standard = "give-up",
       .manual =
           "Choose what a nested run does when it detects a deadlock. In a deadlock, the holder of the wanted lock "
           "waits, directly or through others, for a lock that this run or a run around it holds. With give-up, "
           "the run that came last exits with status 75 and outcome deadlock, and prints which run waits for "
           "which. With wait, it prints that and waits on. A deadlock counts even if the --wait or --max-hold of "
           "another run would end it later.",
       .offer = Offer::choices,
       .choices = "give-up wait",
       .hidden = true,
       .set = one_of(request.give_up_on_deadlock, "give-up wait", {true, false})});
  declare_sync_replicas(spec, request);
  declare_backoff(spec, request);
  spec.add({.names = "--scrub-password",
            .manual =
                "Remove RLOCK_PASSWORD, VALKEYCLI_AUTH, REDISCLI_AUTH and the password in REDIS_URL from the "
                "environment of COMMAND. A nested rlock then needs a password file.",
            .set = into(request.scrub_password)});
  spec.add({.names = "--quorum",
            .value = "majority|all",
            .standard = "majority",
            .manual = "With several --url, this many servers must grant the lock.",
            .offer = Offer::choices,
            .choices = "majority all",
            .set = one_of(request.quorum, "majority all", {Quorum::majority, Quorum::all})});
}

/// Names of options in other lock tools, with the advice for each.
std::vector<OtherToolOption> options_of_other_tools() {
  return {
      {"--timeout", "did you mean --wait (for the lock) or --max-hold (for the command)?"},
      {"--ttl", "did you mean --lease?"},
      {"-e", "a lock is exclusive without it; for an exit status when it is busy say -E"},
      {"-o", "not needed: the command inherits no descriptor of rlock's"},
      {"-F", "rlock has to stay beside the command, to renew its lock and to stop it in time"},
      {"--no-fork", "rlock has to stay beside the command, to renew its lock and to stop it in time"},
      {"--foreground", "not needed: the command gets the terminal by itself"},
      {"--preserve-status",
       "not needed: rlock ends as the command ended; 124 says that --max-hold stopped it"},
      {"-t", "did you mean --wait or --max-hold?"},
      {"-child-exit-code", "not needed: rlock ends as the command ended"},
  };
}

}  // namespace

void declare_if_unreachable(VerbSpec& spec, RunRequest& request) {
  spec.add(
      {.names = "--if-unreachable",
       .value = "fail|skip|run",
       .help = "what to do without a server",
       .standard = "fail",
       .manual =
           "The option counts when rlock would otherwise exit with status 69. fail: exit with status 69. skip: do not "
           "run COMMAND, print one line (rlock flock: only with -v), and exit with status 0. run: print a warning and "
           "run COMMAND without a lock. With --wait, rlock first tries until the wait ends. See "
           "WITHOUT A SERVER in rlock-run(1).",
       .offer = Offer::choices,
       .choices = "fail skip run",
       .set = one_of(request.if_unreachable, "fail skip run",
                     {IfUnreachable::fail, IfUnreachable::skip, IfUnreachable::run}),
       .configurable = true});
}

void declare_run(VerbSpec& spec, RunRequest& request, TypedRun& typed) {
  spec.usage = {"run [OPTIONS] -k KEY [-k KEY...] [--] COMMAND [ARG...]",
                "run [OPTIONS] -k KEY [-k KEY...] -c 'SHELL STRING'"};
  spec.about =
      "Acquire the lock on the server of RLOCK_URL, run COMMAND and release the lock. If the lock is busy, "
      "wait for ever. rlock stops COMMAND before the lock can end.";
  spec.other_tools = options_of_other_tools();
  spec.notes = "DUR is 500ms, 30 (seconds), 1m30s or 2h.\n";
  spec.examples = {{"*/5 * * * * rlock run -nqE0 --min-hold 4m -k report -- /opt/report", ""},
                   {"rlock run -w 30m -k prod -- ./deploy.sh", ""},
                   {"rlock run -n -k backup --max-hold 4h --kill-after 5m -- restic backup /srv", ""}};
  spec.common = "key shared type nonblock wait lease max-hold";
  spec.command_follows = true;
  spec.marked = &typed.command_marked;
  declare_what(spec, request, typed);
  spec.add({.names = "-c, --command",
            .value = "STRING",
            .manual = "Run STRING with /bin/sh -c instead of COMMAND.",
            .hidden = true,
            .set = into(typed.shell)});
  declare_wait(spec, request.wait);
  declare_queue(spec, request);
  declare_if_unreachable(spec, request);
  declare_hold(spec, request);
  declare_stop(spec, request, typed);
  declare_report_options(spec, request);
  declare_rare(spec, request);
  declare_server_options(spec, typed.server);
}

}  // namespace rlock
