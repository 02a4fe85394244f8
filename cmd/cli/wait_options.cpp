#include "cmd/cli/wait_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cmd/cli/exit_code.h"

namespace rlock {
namespace {

Milliseconds limit_of(std::string_view value) {
  try {
    return parse_duration(value);
  } catch (const Error& error) {  // says what may be typed besides
    throw Error{error.kind(), fmt::format("{}; or forever", error.what())};
  }
}

}  // namespace

WaitOptions::WaitOptions() : conflict_exit_code(exit_code::busy) {}

void declare_wait(VerbSpec& spec, WaitOptions& options) {
  const auto nonblock = [&options](std::string_view) {
    options.nonblock = true;
    options.given = false;
    options.limit.reset();
  };
  const auto wait = [&options, nonblock](std::string_view value) {
    if (value == "forever" || value == "inf" || value == "infinity") {
      options.nonblock = false;
      options.given = true;
      options.limit.reset();
      return;
    }
    const Milliseconds limit = limit_of(value);
    if (limit == Milliseconds::zero()) return nonblock(value);
    options.nonblock = false;
    options.given = true;
    options.limit = limit;
  };
  spec.group("How long to wait", "[for ever]");
  spec.add({.names = "-n, --nonblock",
            .help = "not at all",
            .manual = "One try. --nb and --nonblocking mean the same.",
            .set = nonblock});
  spec.add({.names = "--nb, --nonblocking", .hidden = true, .set = nonblock});
  spec.add(
      {.names = "-w, --wait",
       .value = "DUR|forever",
       .help = "at most this long, for the server too",
       .manual =
           "Counted from the start of rlock. 0 means -n; inf and infinity mean forever. While a wait was "
           "asked for, a server that does not answer is tried again until the wait ends; without it, that is "
           "status 69 at once.",
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
  for (const std::string_view name : {"--nowait", "--no-wait"})
    spec.foreign.push_back({name, "did you mean -n (--nonblock)?"});
}

}  // namespace rlock
