#pragma once

// Common parts of the store's commands.

#include <algorithm>

#include "numbers.h"
#include "store.h"

namespace rlock::model {

struct WrongType {};

inline Reply text(const std::string& value) { return Reply{value}; }
inline Reply number(std::size_t value) { return Reply{static_cast<std::int64_t>(value)}; }
inline Reply not_a_number() { return Reply::error("ERR value is not an integer or out of range"); }
inline Reply ok() { return Reply{"OK", Reply::Kind::status}; }

/// The range from `first` to `last`; negative numbers count from the end, as in LRANGE.
inline std::pair<std::size_t, std::size_t> range(std::int64_t first, std::int64_t last, std::size_t size) {
  const auto length = static_cast<std::int64_t>(size);
  if (first < 0) first = std::max<std::int64_t>(length + first, 0);
  if (last < 0) last = length + last;
  last = std::min(last, length - 1);
  if (first > last) return {0, 0};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last + 1)};
}

struct Bound {
  double score;
  bool excluded;
};

inline std::optional<Bound> bound_in(std::string_view text) {
  const bool excluded = text.starts_with('(');
  const auto score = score_in(text.substr(excluded ? 1 : 0));
  if (!score) return std::nullopt;
  return Bound{*score, excluded};
}

struct Store::Arguments {
  const Words& words;
  const std::string& operator[](std::size_t index) const { return words.at(index); }
  std::size_t size() const { return words.size(); }
};

}  // namespace rlock::model
