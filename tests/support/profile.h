#pragma once

#include <cstddef>
#include <cstdlib>

namespace rlock::test {

/// The long profile: RLOCK_LONG=1. Else the short one of CI.
inline bool long_profile() {
  const char* asked = std::getenv("RLOCK_LONG");
  return asked && *asked && *asked != '0';
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// What rlock may have in memory, whatever a server sends.
/// AddressSanitizer adds shadows, red zones and a quarantine.
constexpr std::size_t kMostMemory = (kSanitized ? 512U : 64U) << 20;

}  // namespace rlock::test
