#include "cmd/cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "built_with.h"
#include "redis/tls.h"

namespace rlock {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 28;

/// Columns that a terminal needs for UTF-8 text without wide characters, which no screen of ours has.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  return count;
}

std::string padded(std::string text, std::size_t width) {
  while (columns(text) < width) text += ' ';
  return text;
}

std::string with_value(const Option& option) { return rlock::with_value(option.names, option.value, option); }

/// "  -w, --wait DUR|forever    at most this long                    [30s]"
std::string own_line(const Option& option) {
  std::string line = option.names.starts_with("--") ? "      " : "  ";
  line = padded(line + with_value(option) + "  ", kHelpColumn);
  for (const char byte : option.help) {
    line += byte;
    if (byte == '\n') line += std::string(kHelpColumn, ' ');
  }
  if (option.standard.empty()) return line + "\n";
  const std::string standard = fmt::format("[{}]", option.standard);
  return padded(line + " ", kWidth - columns(standard)) + standard + "\n";
}

/// "--signal SIG [TERM]", for a line that several share.
std::string shared_line(const Option& option) {
  return option.standard.empty() ? with_value(option)
                                 : fmt::format("{} [{}]", with_value(option), option.standard);
}

}  // namespace

std::string help_group(const VerbSpec::Group& group) {
  if (std::ranges::all_of(group.options, &Option::hidden)) return "";
  std::string text{group.title};
  if (!group.note.empty()) text = padded(text + "  ", kWidth - columns(group.note)) + std::string{group.note};
  text += "\n";
  std::string shared;
  const auto flush = [&] {
    if (!shared.empty()) text += shared + "\n";
    shared.clear();
  };
  for (const Option& option : group.options) {
    if (option.hidden) continue;
    if (!option.help.empty()) {
      flush();
      text += own_line(option);
      continue;
    }
    const std::string word = shared_line(option);
    if (!shared.empty() && columns(shared) + 3 + columns(word) > kWidth) flush();
    shared += shared.empty() ? (word.starts_with("--") ? "      " : "  ") + word : "   " + word;
  }
  flush();
  return text;
}

std::string help_screen(const VerbSpec& spec) {
  std::string text;
  for (const std::string_view usage : spec.usage)
    text += fmt::format("{} rlock {}\n", text.empty() ? "Usage:" : "      ", usage);
  text += fmt::format("{}\n", spec.about);
  // One blank line before the options, none between the groups: a screen has few lines.
  if (!spec.groups.empty()) text += "\n";
  for (const auto& group : spec.groups) {
    if (!group.elsewhere) text += help_group(group);
  }
  if (!spec.notes.empty()) text += fmt::format("\n{}\n", spec.notes);
  if (!spec.examples.empty()) text += "\n";
  for (const auto& example : spec.examples) {
    const std::string line = fmt::format("  {}", example.line);
    text += example.remark.empty() ? line : padded(line + "  ", 46) + std::string{example.remark};
    text += "\n";
  }
  return text;
}

std::string version_text() {
  std::string text = fmt::format("rlock {}\n", RLOCK_VERSION);
  if (verbosity() != Verbosity::verbose) return text;
  const std::string_view libraries = RLOCK_BUILT_WITH;
  text += libraries;
  if (libraries.find("OpenSSL") != libraries.npos) return text;
  try {
    return text + fmt::format("OpenSSL {} (the system's, loaded for TLS)\n", tls_library_version());
  } catch (const Error& error) {  // what is not there is part of the answer
    return text + fmt::format("OpenSSL none ({})\n", error.what());
  }
}

}  // namespace rlock
