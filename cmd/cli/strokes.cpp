#include "cmd/cli/strokes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace rlock {
namespace {

struct Sequence {
  std::string_view bytes;
  Meaning meaning;
};

/// If one sequence is the beginning of another, the longer one stands first.
constexpr Sequence kSequences[] = {
    {"\x1b[A", Meaning::up},   {"\x1bOA", Meaning::up},       {"\x1b[B", Meaning::down},
    {"\x1bOB", Meaning::down}, {"\x1b[5~", Meaning::page_up}, {"\x1b[6~", Meaning::page_down},
    {"\x1b[H", Meaning::home}, {"\x1bOH", Meaning::home},     {"\x1b[1~", Meaning::home},
    {"\x1b[F", Meaning::end},  {"\x1bOF", Meaning::end},      {"\x1b[4~", Meaning::end},
    {"q", Meaning::quit},      {"Q", Meaning::quit},          {"s", Meaning::sort},
    {"k", Meaning::up},        {"j", Meaning::down},          {"?", Meaning::help},
    {"h", Meaning::help},      {"\r", Meaning::enter},        {"\n", Meaning::enter},
    {"/", Meaning::filter},    {"\x7f", Meaning::erase},      {"\b", Meaning::erase},
};

/// The length of an unknown control sequence up to its final byte. 0: it is not complete yet.
std::size_t length_of_sequence(std::string_view bytes) {
  if (bytes.size() < 2) return 1;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[') return 1;
  const auto is_final = [](char c) { return c >= 0x40 && c <= 0x7e; };
  const auto* end = std::find_if(bytes.begin() + 2, bytes.end(), is_final);
  return end == bytes.end() ? 0 : static_cast<std::size_t>(end - bytes.begin()) + 1;
}

/// Is it no control character?
bool is_text(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

}  // namespace

std::vector<Stroke> strokes_in(std::string& bytes) {
  std::vector<Stroke> strokes;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto* known =
        std::ranges::find_if(kSequences, [&](const Sequence& one) { return rest.starts_with(one.bytes); });
    std::size_t length = 1;
    if (known != std::end(kSequences)) {
      length = known->bytes.size();
      strokes.emplace_back(known->meaning, is_text(known->bytes.front()) ? std::string{known->bytes} : "");
    } else if (rest.front() == '\x1b') {
      length = length_of_sequence(rest);
      if (length == 0) break;
      strokes.emplace_back(length == 1 ? Meaning::escape : Meaning::other);
    } else {
      strokes.emplace_back(Meaning::other, is_text(rest.front()) ? std::string{rest.front()} : "");
    }
    rest.remove_prefix(length);
  }
  bytes = std::string{rest};
  return strokes;
}

}  // namespace rlock
