// The main() of rlock_tests.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <sys/stat.h>

namespace {

/// A config file that its group can write to is refused; what a test writes must not depend on who runs it.
[[maybe_unused]] const mode_t kUmaskBefore = ::umask(022);

}  // namespace
