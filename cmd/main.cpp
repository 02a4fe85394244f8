#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"
#include "base/text.h"
#include "cmd/app/app.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/hold/report/hold_environment.h"
#include "cmd/server/secrets.h"
#include "cmd/server/session.h"
#include "loop/signals_of_writes.h"
#include "process/core_limit.h"
#include "process/std_descriptors.h"

namespace {

/// For `eval "$(rlock lock acquire --export ...)" || exit`: prints code with this status, or the script would go on without
/// the lock. It looks at the words, because the failure may be that the option was taken for the value of another one, or
/// was not reached. `verb`: null if none was reached.
void fail_in_shell(int status, const rlock::Verb* verb, int argc, char** argv) {
  const std::span<char*> words{argv, static_cast<std::size_t>(argc)};
  const auto is_lock = [](std::string_view word) { return word == "lock" || word == "acquire"; };
  if (verb != nullptr ? verb->name() != "lock acquire" : std::ranges::none_of(words, is_lock)) return;
  for (int i = 1; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    const std::string_view word{argv[i]};
    if (word != "--export" && !word.starts_with("--export=")) continue;
    const auto shell = word == "--export=fish" ? rlock::Shell::fish : rlock::Shell::posix;
    static_cast<void>(
        rlock::try_print(rlock::failure_text(status, shell), rlock::until_killed(STDOUT_FILENO)));
    return;
  }
}

int run(int argc, char** argv) {
  std::unique_ptr<rlock::Verb> verb;
  // Prints one line, lets the verb write its record if it keeps one, and returns the exit status.
  const auto fail = [&](const std::string& line, const rlock::Error& error) {
    rlock::warn(line);
    if (verb) verb->failed(error);
    const int status = rlock::exit_code::of(error.kind());
    fail_in_shell(status, verb.get(), argc, argv);
    return status;
  };
  const rlock::TimePoint started = rlock::Clock::now();
  rlock::set_log_start(started);
  // A failure is an exception that ends here, unless a caller on the way expects it. A catch on the way may add facts
  // to its text.
  try {
    rlock::ignore_signals_of_writes();
    rlock::refuse_borrowed_rights();
    rlock::forbid_cores();
    rlock::fill_std_descriptors();
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    rlock::keep_passwords(argc, argv);
    return rlock::app(started, words, verb);
  } catch (const rlock::EndedBySignal& ended) {
    rlock::die_of(ended.number);
  } catch (const rlock::Error& error) {
    return fail(error.what(), error);
  } catch (const std::bad_alloc&) {
    const rlock::Error none{rlock::Error::system, "out of memory"};
    return fail(none.what(), none);
  } catch (const std::exception& error) {
    const rlock::Error internal{rlock::Error::internal, rlock::sanitized(error.what())};
    return fail(std::string{"internal error: "} + internal.what(), internal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run(argc, argv);
#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer looks for leaks when main() has returned
  ::_exit(status);            // all output was written by write(2), so no exit handler is needed
#endif
  return status;
}
