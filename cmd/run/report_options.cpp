#include "cmd/run/report_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/hold/request/hold_options.h"
#include "cmd/run/status_file.h"

namespace rlock {
namespace {

Setter open_descriptor(std::optional<std::int64_t>& fd) {
  return [&fd](std::string_view value) {
    std::optional<std::int64_t> meant;
    number_between(meant, 0, 1 << 20)(value);
    expect_writable(static_cast<int>(*meant));
    fd = meant;
  };
}

}  // namespace

void declare_report_options(VerbSpec& spec, RunRequest& request) {
  spec.group("Reports");
  declare_remarks(spec, request);
  spec.add(
      {.names = "--show-args",
       .manual =
           "Store the arguments of COMMAND, so that waiters and rlock inspect show them. Without it, rlock "
           "stores the name of COMMAND only, because arguments can hold secrets. If an interpreter runs a "
           "script, rlock stores the name of the script.",
       .set = into(request.show_args)});
  spec.add(
      {.names = "--status-file",
       .value = "F",
       .help = "write to F how the run ended, as one JSON line",
       .manual =
           "rlock removes F at its start. At its end it writes a temporary file and renames it to F. If F is a "
           "device or a descriptor (/dev/stderr, /dev/fd/3), rlock writes to it. rlock-json(5) has the fields.",
       .offer = Offer::file,
       .set = path_into(request.status_file, "the name of a file; for the standard output: --status-fd 1")});
  spec.add({.names = "--status-fd",
            .value = "N",
            .help = "write that line to the open descriptor N",
            .manual =
                "COMMAND does not inherit N, unless N is 1 or 2. If N is a pipe that is full and that no "
                "process reads, rlock gives up after 5s and prints a warning.",
            .set = open_descriptor(request.status_fd)});
  declare_events(
      spec, request,
      "The events are waiting, acquired, trouble, recovered, lost, stopping, released, gave-up and ended. RUN EVENTS in "
      "rlock-json(5) says when rlock writes each of them, and has the fields. A number is an open descriptor, which "
      "COMMAND does not inherit unless it is 1 or 2. rlock appends to a file. It never waits for the reader: it "
      "drops a line that it cannot write at once, and the next line has the number of dropped lines.",
      "rlock sends the events of --events to the systemd journal. If there is no journal, it sends them to the "
      "syslog daemon at /dev/log. -q does not change this. The journal has each field under its own name: "
      "journalctl RLOCK_KEY=deploy. A syslog daemon gets the fields as text: event=acquired key=\"deploy\". The "
      "severity is err for lost, warning for trouble, and notice or info for the others. rlock never waits for "
      "the log: it drops an event that it cannot send at once, and the next event has the number of dropped "
      "events. If there is no log, rlock prints one warning and goes on. SOCKET is the socket of another syslog "
      "daemon; if SOCKET ends in /journal/socket, it is the socket of a journal.");
  declare_verbosity(spec);
}

bool status_replaces_events(const RunRequest& request) {
  return !request.events.empty() && !parse_count(request.events) && !request.status_file.empty() &&
         replaces(request.status_file, request.events);
}

void check_reports(const RunRequest& request) {
  if (status_replaces_events(request))
    throw Error{Error::usage, fmt::format("--events {} and --status-file {} name one file: the status would "
                                          "replace the events; give two files",
                                          in_quotes(request.events), in_quotes(request.status_file))};
}

}  // namespace rlock
