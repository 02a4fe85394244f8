// The main() of rlock_tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "support/skipped.h"

namespace rlock::test {
namespace {

/// rlock refuses a config file that its group can write to. Files of the tests must not depend on the user's
/// umask.
[[maybe_unused]] const mode_t kUmaskBefore = ::umask(022);

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of tests/CMakeLists.txt

struct Run {
  std::string current;             // the current test case
  std::set<std::string> reported;  // the lines about skipped tests, each once, even if several subcases
                                   // repeat it
  bool skipped = false;            // the current test case skipped something
  bool proved_something = false;   // some test case ran to its end, or made assertions before it skipped
};

Run& run() {
  static Run run;
  return run;
}

/// Starts a session of our own if our session may contain strangers: processes of another test program, or from before
/// su or sudo. While a process in its session may belong to the stopped command, or is hidden, a keeper or guardian
/// does not release. On a terminal we stay in the session, so that ^C ends the tests.
void leave_session_of_others() {
  const std::string leader = "/proc/" + std::to_string(::getsid(0)) + "/environ";
  const bool is_hidden = ::access(leader.c_str(), R_OK) != 0 && errno == EACCES;
  if (is_hidden || ::isatty(STDIN_FILENO) == 0) ::setsid();
}

extern "C" void name_the_hanging_case(int) {
  const std::string& name = run().current;
  (void)!::write(STDOUT_FILENO, "hangs: ", 7);
  (void)!::write(STDOUT_FILENO, name.data(), name.size());
  (void)!::write(STDOUT_FILENO, "\n", 1);
  ::_exit(1);
}

/// ctest ends a test that hangs, and does not say in which case; so we end ten seconds before.
void end_before_ctest_does() {
  const char* timeout = std::getenv("RLOCK_TEST_TIMEOUT");
  if (!timeout) return;
  ::signal(SIGALRM, name_the_hanging_case);
  ::alarm(static_cast<unsigned>(std::atoi(timeout) - 10));
  ::unsetenv("RLOCK_TEST_TIMEOUT");
}

/// Records which test cases ran.
struct Listener : doctest::IReporter {
  explicit Listener(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    run().current = test.m_name;
    run().skipped = false;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& test) override {
    run().proved_something |= !run().skipped || test.numAssertsCurrentTest > 0;
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

void skipped(std::string_view why) {
  run().skipped = true;
  const std::string line = "skipped: " + run().current + ": " + std::string{why};
  if (run().reported.insert(line).second) std::cout << line << std::endl;
}

}  // namespace rlock::test

REGISTER_LISTENER("skipped", 1, rlock::test::Listener);

int main(int argc, char** argv) {
  std::cout << std::unitbuf;  // what failed is printed even if a later case hangs
  rlock::test::leave_session_of_others();
  rlock::test::end_before_ctest_does();
  doctest::Context context{argc, argv};
  const int status = context.run();
  const auto& run = rlock::test::run();
  return status == 0 && !run.reported.empty() && !run.proved_something ? rlock::test::kSkipped : status;
}
