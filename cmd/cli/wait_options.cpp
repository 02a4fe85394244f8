#include "cmd/cli/wait_options.h"

#include <fmt/format.h>

#include "base/as_given.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"

namespace rlock {
namespace {

Milliseconds limit_of(std::string_view value) {
  try {
    return parse_duration(value);
  } catch (const Error& error) {  // adds the other possible value
    throw Error{error.kind(), fmt::format("{}; to wait without a limit: forever", error.what())};
  }
}

}  // namespace

std::string WaitOptions::nonblock_as_given() const {
  return typed_nonblock ? "-n" : as_given("wait", "--wait 0");
}

void declare_wait(VerbSpec& spec, WaitOptions& options) {
  const auto nonblock = [&options] {
    options.nonblock = true;
    options.given = false;
    options.limit.reset();
  };
  const auto take = [&options, nonblock](std::string_view value) {
    const bool forever = value == "forever" || value == "inf" || value == "infinity";
    const Milliseconds limit = forever ? Milliseconds::max() : limit_of(value);
    if (limit == Milliseconds::zero()) return nonblock();
    if (options.typed_nonblock)
      warn(fmt::format("-n and then --wait {}: the last one counts, so rlock waits", sanitized(value)));
    options.nonblock = false;
    options.given = true;
    options.limit = forever ? std::nullopt : std::optional{limit};
  };
  const auto typed_nonblock = [&options, nonblock](std::string_view) {
    if (options.given) warn("--wait and then -n: the last one counts, so rlock does not wait");
    options.typed_nonblock = true;
    nonblock();
  };
  const auto take_default = [&options, take](std::string_view value) {
    if (!options.nonblock && !options.given) take(value);
  };
  spec.group("How long to wait");
  spec.add({.names = "-n, --nonblock",
            .help = "do not wait; exit with status 75 instead",
            .manual = "rlock tries once. --nb and --nonblocking mean the same.",
            .set = typed_nonblock});
  spec.add({.names = "--nb, --nonblocking", .hidden = true, .set = typed_nonblock});
  spec.add(
      {.names = "-w, --wait",
       .value = "DUR|forever",
       .help = "wait at most DUR for KEY or the server",
       .standard = "forever",
       .manual =
           "DUR counts from the start of rlock. 0 means -n; inf and infinity mean forever. If rlock cannot use the "
           "server, it retries until DUR is over; with --wait forever, for ever. The variable RLOCK_WAIT and the setting "
           "wait of rlock.conf(5) count like --wait. If none of the three is set, rlock waits for KEY for ever, but "
           "not for a server. If it cannot use the server, it exits with status 69, at once or after a limited time. "
           "See SERVERS THAT FAIL in rlock-safety(7).",
       .offer = Offer::examples,
       .choices = "forever",
       .set = take,
       .configurable = true,
       .variable = "RLOCK_WAIT",
       .set_default = take_default});
  spec.add({.names = "-E, --conflict-exit-code",
            .value = "N",
            .help = "exit with N instead of 75",
            .standard = "75",
            .manual = "N is from 0 to 255. The other exit statuses stay as they are.",
            .set = number_between(options.conflict_exit_code, 0, 255)});
  spec.other_tools.push_back({"--timeout", "did you mean --wait?"});
  declare_nonblock_slips(spec);
}

void declare_nonblock_slips(VerbSpec& spec) {
  for (const std::string_view name : {"--nowait", "--no-wait", "--try"})
    spec.other_tools.push_back({name, "did you mean -n (--nonblock)?"});
}

}  // namespace rlock
