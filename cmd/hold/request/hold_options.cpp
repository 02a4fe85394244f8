#include "cmd/hold/request/hold_options.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <climits>
#include <csignal>

#include "base/ascii.h"
#include "base/error.h"
#include "base/text.h"
#include "loop/signal_names.h"
#include "process/std_descriptors.h"
#include "sync/kinds/permit_lock.h"

namespace rlock {
namespace {

/// Reasons and labels go with every renewal, and are shown on one line.
constexpr std::size_t kLongestRemark = 1024;
/// A holder's record of more than 64 KiB is not read, and JSON may take six bytes for one byte of a label.
constexpr std::size_t kMostLabels = 8192;

void refuse_long_remark(std::string_view text) {
  if (text.size() > kLongestRemark)
    throw Error{Error::usage, fmt::format("longer than {} bytes", kLongestRemark)};
}

Setter reason_into(std::string& reason) {
  return [&reason](std::string_view value) {
    refuse_long_remark(value);
    reason = value;
  };
}

Setter label_into(std::map<std::string, std::string>& labels) {
  return [&labels](std::string_view value) {
    const std::size_t equals = value.find('=');
    if (equals == std::string_view::npos || equals == 0) throw Error{Error::usage, "expected NAME=VALUE"};
    refuse_long_remark(value);
    labels[std::string{value.substr(0, equals)}] = value.substr(equals + 1);
    std::size_t all = 0;
    for (const auto& [name, text] : labels) all += name.size() + text.size();
    if (all > kMostLabels)
      throw Error{Error::usage, fmt::format("all labels together are longer than {} bytes", kMostLabels)};
  };
}

Setter fair_wait_into(std::optional<Milliseconds>& timeout) {
  return [&timeout](std::string_view value) {
    into(timeout)(value);
    if (*timeout < Milliseconds{1000}) throw Error{Error::usage, "expected 1s or more"};
  };
}

/// Looks at a descriptor now, because later its number may be that of a descriptor of ours.
Setter events_into(std::string& events) {
  return [&events](std::string_view value) {
    const auto number = parse_count(value);
    const bool signed_number = value.starts_with('-') || value.starts_with('+');
    if (number && *number <= INT_MAX) {
      expect_writable(static_cast<int>(*number));
    } else if (all_digits(value.substr(signed_number ? 1 : 0))) {
      throw Error{Error::usage, fmt::format("descriptor {0} is not open; ./{0} names a file", value)};
    }
    path_into(events, "a file or an open descriptor, as in --events 1")(value);
  };
}

void declare_newest(VerbSpec& spec, HoldRequest& request) {
  spec.add(
      {.names = "--newest",
       .help = "make older --newest waiters give up",
       .manual =
           "The older waiters exit with status 75 at once: see NEWEST FIRST in rlock-run(1). You cannot use the option "
           "with --type read, fair, spin, permit or plain, with several --url, with -n, or with --queue-limit.",
       .set = into(request.newest)});
}

}  // namespace

void expect_writable(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || is_placeholder(fd))
    throw Error{Error::usage, fmt::format("descriptor {} is not open", fd)};
  if ((flags & O_ACCMODE) == O_RDONLY)
    throw Error{Error::usage, fmt::format("descriptor {} is not open for writing", fd)};
}

void declare_signal(VerbSpec& spec, HoldRequest& request, std::string_view manual,
                    std::string_view kill_after) {
  spec.add({.names = "--signal",
            .value = "SIG",
            .standard = "TERM",
            .manual = manual,
            .offer = Offer::examples,
            .choices = "TERM INT HUP QUIT USR1 USR2 KILL",
            .set = [&request](std::string_view value) { request.stop.signal = parse_signal(value); }});
  spec.add({.names = "--kill-after",
            .value = "DUR",
            .standard = "5s",
            .manual = kill_after,
            .set = into(request.stop.kill_after),
            .configurable = true});
}

void declare_on_lost(VerbSpec& spec, HoldRequest& request, std::string_view help, std::string_view manual) {
  spec.add({.names = "--on-lost",
            .value = "stop|warn",
            .help = help,
            .standard = "stop",
            .manual = manual,
            .offer = Offer::choices,
            .choices = "stop warn",
            .set = one_of(request.stop.stop_on_loss, "stop warn", {true, false})});
}

void declare_reason(VerbSpec& spec, std::string& reason, std::string_view help, std::string_view manual) {
  spec.add(
      {.names = "--reason", .value = "TEXT", .help = help, .manual = manual, .set = reason_into(reason)});
}

void declare_remarks(VerbSpec& spec, HoldRequest& request) {
  declare_reason(spec, request.remarks.reason, "",
                 "Tell waiters and rlock inspect why you hold the lock. TEXT has at most 1024 bytes.");
  spec.add(
      {.names = "--label",
       .value = "K=V",
       .manual =
           "Attach the label K with the value V, which rlock inspect shows. You may repeat the option. K=V has "
           "at most 1024 bytes, and all labels together have at most 8192.",
       .set = label_into(request.remarks.labels)});
}

void declare_queue(VerbSpec& spec, HoldRequest& request) {
  spec.add(
      {.names = "--queue-limit",
       .value = "N",
       .help = "do not wait behind N or more waiters",
       .manual =
           "If N processes already wait for the lock, rlock exits with status 75 at once. With 0 it never "
           "waits, as with -n. The waiters of all hosts count. A waiter that was killed counts until the server "
           "forgets it. In a fair queue, that is after two thirds of its --lease. In another queue, it is after 14s "
           "if the waiter was the first, else after at most 250s. N is at most 1000000. You cannot use the option with --type "
           "spin or plain, whose waiters have no queue, or with several --url.",
       .set = number_between(request.queue_limit, 0, 1'000'000)});
  declare_newest(spec, request);
  spec.add(
      {.names = "--fair-wait-timeout",
       .value = "DUR",
       .standard = "5m",
       .manual =
           "Forget a silent waiter of a fair lock after DUR, at least 1s. This is fairLockWaitTimeout of Redisson's "
           "Config. Give all rlocks and Java services the same value, because they compute each other's deadlines "
           "in the queue with it. A dead waiter of Redisson keeps its place for DUR. The server forgets a silent "
           "waiter of rlock after two thirds of its --lease, or after DUR if that is shorter.",
       .hidden = true,
       .set = fair_wait_into(request.type_options.fair_wait_timeout),
       .configurable = true,
       .set_default = [&request](std::string_view value) {
         std::optional<Milliseconds> timeout;
         fair_wait_into(timeout)(value);
         if (request.type != nullptr && request.type->fair_wait)
           request.type_options.fair_wait_timeout = timeout;
       }});
}

void declare_permits(VerbSpec& spec, HoldRequest& request, const TakeType& take) {
  const LockType* permit = find_lock_type("permit");
  spec.add(
      {.names = "--permits",
       .value = "N",
       .help = "acquire one of N permits; RLOCK_SLOT is its index",
       .manual =
           "N is the size of the pool, from 1 to 1000000. The first index is 0. If there is no pool, rlock creates "
           "it. If the pool has another size, rlock exits with status 65. The option implies --type permit; --count "
           "acquires more than one permit.",
       .set = [&request, take, permit](std::string_view value) {
         number_between(request.type_options.permits, 1, 1'000'000)(value);
         take(*permit, "--permits");
       }});
  spec.add(
      {.names = "--count",
       .value = "M",
       .manual =
           "Acquire M permits, from 1 to 1000: all of them or none. Default: 1. The option implies --type "
           "permit; without --permits the pool has to exist.",
       .hidden = true,
       .set = [&request, take, permit](std::string_view value) {
         number_between(request.type_options.count, 1, PermitLock::kMostAtOnce)(value);
         take(*permit, "--count");
       }});
}

void declare_sync_replicas(VerbSpec& spec, HoldRequest& request) {
  spec.add(
      {.names = "--sync-replicas",
       .value = "N",
       .standard = "0",
       .manual =
           "Count an acquire or a renewal only if N replicas have it (the command WAIT). If fewer have it, it has "
           "failed, as if the server did not answer. N is from 0 to 1000.",
       .set = number_between(request.sync_replicas.count, 0, 1000),
       .configurable = true});
  spec.add({.names = "--sync-timeout",
            .value = "DUR",
            .standard = "1s",
            .manual = "Wait at most DUR for these replicas.",
            .set = into(request.sync_replicas.timeout),
            .configurable = true});
}

int parse_signal(std::string_view text) {
  std::string_view name = text;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int number = 1; number < SIGRTMIN; ++number) {
    const char* own = signal_abbreviation(number);
    if (own && name == own) return number;
  }
  const auto number = parse_count(text);
  if (number && *number >= 1 && *number <= SIGRTMAX) return static_cast<int>(*number);
  throw Error{Error::usage, "expected a signal: TERM, SIGTERM or 15"};
}

void declare_events(VerbSpec& spec, HoldRequest& request, std::string_view events, std::string_view syslog) {
  spec.add({.names = "--events",
            .value = "FILE|FD",
            .help = "write one JSON line for each event of the hold",
            .manual = events,
            .offer = Offer::file,
            .set = events_into(request.events)});
  spec.add({.names = "--syslog",
            .value = "SOCKET",
            .alone = kSystemLog,
            .help = "send these events to the system log",
            .manual = syslog,
            .offer = Offer::file,
            .set = path_into(request.syslog, "the socket of a log")});
}

}  // namespace rlock
