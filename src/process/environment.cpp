#include "process/environment.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace rlock {
namespace {

constexpr std::array<std::string_view, 2> kAddressed = {"LISTEN_PID=", "WATCHDOG_PID="};
constexpr std::size_t kDigits = 10;  // the longest pid

bool is_changed(std::string_view entry, const Variables& changes) {
  return std::ranges::any_of(changes, [&](const auto& change) {
    const std::string& name = change.first;
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
  });
}

}  // namespace

Environment::Environment(const Variables& changes) {
  own_.reserve(changes.size());
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (is_changed(text, changes)) continue;
    entries_.push_back(*entry);
    for (std::size_t i = 0; i < kAddressed.size(); ++i) {
      if (!text.starts_with(kAddressed[i])) continue;
      if (text.substr(kAddressed[i].size()) != std::to_string(::getpid())) continue;
      addressed_[i] = std::string{kAddressed[i]} + std::string(kDigits, '\0');
      entries_.back() = addressed_[i].data();
    }
  }
  for (const auto& [name, value] : changes) {
    if (!value) continue;
    own_.push_back(name + "=" + *value);
    entries_.push_back(own_.back().data());
  }
  entries_.push_back(nullptr);
}

void Environment::meant_for(pid_t command) noexcept {
  for (std::size_t i = 0; i < kAddressed.size(); ++i) {
    if (addressed_[i].empty()) continue;
    char* const digits = addressed_[i].data() + kAddressed[i].size();
    *std::to_chars(digits, digits + kDigits, command).ptr = '\0';
  }
}

}  // namespace rlock
