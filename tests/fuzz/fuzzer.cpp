// What libFuzzer calls; built once for each property of fuzz/properties.h, which RLOCK_FUZZED names.

#include <cstddef>
#include <cstdint>

#include "fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rlock::test::RLOCK_FUZZED({reinterpret_cast<const char*>(data), size});
  return 0;
}
