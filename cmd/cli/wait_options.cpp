#include "cmd/cli/wait_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"

namespace rlock {
namespace {

Milliseconds limit_of(std::string_view value) {
  try {
    return parse_duration(value);
  } catch (const Error& error) {  // says what may be typed besides
    throw Error{error.kind(), fmt::format("{}; to wait without a limit: forever", error.what())};
  }
}

}  // namespace

WaitOptions::WaitOptions() : conflict_exit_code(exit_code::busy) {}

void declare_wait(VerbSpec& spec, WaitOptions& options) {
  const auto nonblock = [&options](std::string_view) {
    if (options.given) complain("--wait and then -n: the last one counts, so rlock does not wait");
    options.nonblock = true;
    options.given = false;
    options.limit.reset();
  };
  const auto wait = [&options, nonblock](std::string_view value) {
    const auto overrule = [&] {
      if (options.nonblock)
        complain(fmt::format("-n and then --wait {}: the last one counts, so rlock waits", sanitized(value)));
    };
    if (value == "forever" || value == "inf" || value == "infinity") {
      overrule();
      options.nonblock = false;
      options.given = true;
      options.limit.reset();
      return;
    }
    const Milliseconds limit = limit_of(value);
    if (limit == Milliseconds::zero()) return nonblock(value);
    overrule();
    options.nonblock = false;
    options.given = true;
    options.limit = limit;
  };
  spec.group("How long to wait", "[for ever]");
  spec.add({.names = "-n, --nonblock",
            .help = "do not wait: try once",
            .manual =
                "If rlock would have to wait, it exits with status 75. --nb and --nonblocking mean the same.",
            .set = nonblock});
  spec.add({.names = "--nb, --nonblocking", .hidden = true, .set = nonblock});
  spec.add(
      {.names = "-w, --wait",
       .value = "DUR|forever",
       .help = "wait at most DUR, for the server too",
       .manual =
           "Without -n and without --wait, rlock waits for ever. The time is counted from the start of rlock. 0 "
           "means -n; inf and infinity mean forever. If --wait is given and the server does not answer, rlock "
           "tries again until the wait ends.",
       .offer = Offer::examples,
       .choices = "forever",
       .set = wait});
  spec.add({.names = "-E, --conflict-exit-code",
            .value = "N",
            .help = "exit status when not acquired",
            .standard = "75",
            .manual = "0 to 255. Changes 75 and nothing else.",
            .set = number(options.conflict_exit_code, 0, 255)});
  spec.foreign.push_back({"--timeout", "did you mean --wait?"});
  for (const std::string_view name : {"--nowait", "--no-wait", "--try"})
    spec.foreign.push_back({name, "did you mean -n (--nonblock)?"});
}

}  // namespace rlock
