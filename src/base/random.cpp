#include "base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace rlock {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      throw_system_error("the kernel gives no random numbers");
    }
  }
  return bytes;
}

std::uint64_t random_below(std::uint64_t bound) {
  if (bound == 0) return 0;
  // Numbers from `fair` on are not used, because with them low results would come more often than others.
  const std::uint64_t fair = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  for (;;) {
    std::uint64_t number = 0;
    std::memcpy(&number, random_bytes(sizeof number).data(), sizeof number);
    if (number < fair) return number % bound;
  }
}

Milliseconds jitter(Milliseconds span) {
  if (span <= Milliseconds::zero()) return Milliseconds::zero();
  const auto below = static_cast<std::uint64_t>(span.count()) + 1;
  return Milliseconds{static_cast<Milliseconds::rep>(random_below(below))};
}

RequestId new_request() { return RequestId{to_hex(random_bytes(16))}; }

}  // namespace rlock
