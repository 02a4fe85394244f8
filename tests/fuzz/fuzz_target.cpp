#include <cstddef>
#include <cstdint>

#include "fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rlock::test::check_target({reinterpret_cast<const char*>(data), size});
  return 0;
}
