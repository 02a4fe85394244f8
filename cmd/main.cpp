#include <exception>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/rights.h"
#include "base/text.h"
#include "cmd/cli/app.h"
#include "cmd/cli/exit_code.h"
#include "cmd/run/status.h"
#include "cmd/server/secrets.h"
#include "loop/core_limit.h"
#include "loop/std_descriptors.h"

int main(int argc, char** argv) {
  const rlock::TimePoint started = rlock::Clock::now();
  rlock::set_log_start(started);
  // The only catch: whatever failed, and wherever, becomes
  // one line for a person and one exit status for a script.
  try {
    rlock::refuse_borrowed_rights();
    rlock::forbid_cores();
    rlock::fill_std_descriptors();
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    rlock::keep_passwords(argc, argv);
    return rlock::app(started, words);
  } catch (const rlock::Error& error) {
    rlock::complain(error.what());
    rlock::write_failed_status(error.kind(), error.what());
    return rlock::exit_code::of(error.kind());
  } catch (const std::exception& error) {
    const std::string text = rlock::sanitized(error.what());
    rlock::complain("internal error: " + text);
    rlock::write_failed_status(rlock::Error::internal, text);
    return rlock::exit_code::internal;
  }
}
