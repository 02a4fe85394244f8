#include <unistd.h>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"
#include "base/text.h"
#include "cmd/app/app.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/exit_code.h"
#include "cmd/server/secrets.h"
#include "cmd/server/session.h"
#include "loop/signals_of_writes.h"
#include "process/core_limit.h"
#include "process/std_descriptors.h"

namespace {

/// Reports any failure: prints one line, lets the verb write its record if it keeps one, and returns the exit
/// status.
int fail(const std::string& line, const rlock::Error& error, rlock::Verb* verb) {
  rlock::warn(line);
  if (verb != nullptr) verb->failed(error);
  return rlock::exit_code::of(error.kind());
}

int run(int argc, char** argv) {
  const rlock::TimePoint started = rlock::Clock::now();
  rlock::set_log_start(started);
  std::unique_ptr<rlock::Verb> verb;
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
    return fail(error.what(), error, verb.get());
  } catch (const std::bad_alloc&) {
    const rlock::Error none{rlock::Error::system, "out of memory"};
    return fail(none.what(), none, verb.get());
  } catch (const std::exception& error) {
    const rlock::Error internal{rlock::Error::internal, rlock::sanitized(error.what())};
    return fail(std::string{"internal error: "} + internal.what(), internal, verb.get());
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
