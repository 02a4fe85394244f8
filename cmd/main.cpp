#include <unistd.h>

#include <exception>
#include <memory>
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
#include "loop/core_limit.h"
#include "loop/std_descriptors.h"

namespace {

/// Where each failure ends: one line for a person, the record of the verb that failed, where it keeps one,
/// and one exit status for a script.
int fail(const std::string& line, const rlock::Error& error, rlock::Verb* verb) {
  rlock::complain(line);
  if (verb != nullptr) verb->failed(error);
  return rlock::exit_code::of(error.kind());
}

int run(int argc, char** argv) {
  const rlock::TimePoint started = rlock::Clock::now();
  rlock::set_log_start(started);
  std::unique_ptr<rlock::Verb> verb;
  // Whatever failed, and wherever, ends here. Another catch only adds where a value came from, or takes a
  // failure that is to be expected for an answer; it says which.
  try {
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
  } catch (const std::exception& error) {
    const rlock::Error internal{rlock::Error::internal, rlock::sanitized(error.what())};
    return fail(std::string{"internal error: "} + internal.what(), internal, verb.get());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run(argc, argv);
#ifndef __SANITIZE_ADDRESS__  // which looks for leaks when main() has returned
  ::_exit(status);  // what had to be written has been, by write(2): no exit handler has anything to do
#endif
  return status;
}
