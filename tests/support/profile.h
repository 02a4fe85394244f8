#pragma once

#include <cstddef>
#include <cstdlib>

extern "C" [[gnu::weak]] void __asan_init();  // NOLINT: AddressSanitizer's own

namespace rlock::test {

/// The long profile: RLOCK_LONG=1. Otherwise the short one of CI.
inline bool long_profile() {
  const char* asked = std::getenv("RLOCK_LONG");
  return asked && *asked && *asked != '0';
}

/// Was rlock built with sanitizers? The tests are compiled once and linked with both builds
/// (tests/sanitized.cmake), so this is known only at run time.
inline const bool kSanitized = &__asan_init != nullptr;

/// The most memory that rlock may use, whatever a server sends. AddressSanitizer adds shadows, red zones and
/// a quarantine.
inline const std::size_t kMostMemory = (kSanitized ? 512U : 64U) << 20;

}  // namespace rlock::test
