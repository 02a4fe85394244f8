#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace rlock::test {

/// Random inputs that are the same in every run, so that a failing test fails again. Write CAPTURE(round) in
/// the loop.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}

  std::size_t below(std::size_t bound) { return engine_() % bound; }
  bool coin() { return below(2) == 0; }

  template <class List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }

  /// Up to `most` characters of `alphabet`.
  std::string text(std::string_view alphabet, std::size_t most) {
    std::string text(below(most + 1), '\0');
    for (char& c : text) c = pick(alphabet);
    return text;
  }

  std::string bytes(std::size_t most) {
    std::string bytes(below(most + 1), '\0');
    for (char& c : bytes) c = static_cast<char>(below(256));
    return bytes;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace rlock::test
