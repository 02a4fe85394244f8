// The entry point for libFuzzer, built once for each property in fuzz/properties.h; RLOCK_FUZZED names the
// property.

#include <cstddef>
#include <cstdint>

#include "fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rlock::test::RLOCK_FUZZED({reinterpret_cast<const char*>(data), size});
  return 0;
}
