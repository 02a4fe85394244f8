#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

// The parts from which the properties of fuzz/properties.h are built.

namespace rlock::test {

inline void must(bool fact, const char* property) {
  if (!fact) throw std::logic_error{property};
}

/// True: a terminal may show the text.
inline bool harmless(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }) &&
         utf8(text) == text;
}

/// The value that `read` makes of the bytes; nothing, if it refuses them with an Error of `kind`.
template <class Read>
auto attempt(Read&& read, Error::Kind kind = Error::usage) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    must(error.kind() == kind, "bad input is an error of its kind");
    must(harmless(error.what()), "a complaint is harmless for a terminal");
    return std::nullopt;
  }
}

}  // namespace rlock::test
