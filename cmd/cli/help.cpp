#include "cmd/cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace rlock {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 28;

/// The height of a terminal with the default size.
constexpr std::ptrdiff_t kScreenLines = 24;

/// The columns of a UTF-8 text without wide characters, which our help does not use.
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

/// "--signal SIG [TERM]", for options that share a line.
std::string shared_line(const Option& option) {
  return option.standard.empty() ? with_value(option)
                                 : fmt::format("{} [{}]", with_value(option), option.standard);
}

/// Words side by side, wrapped.
class SharedLines {
 public:
  void add(const std::string& word) {
    if (!line_.empty() && columns(line_) + 2 + columns(word) > kWidth)
      text_ += std::exchange(line_, "") + "\n";
    line_ += "  " + word;
  }

  std::string flush() {
    if (!line_.empty()) text_ += std::exchange(line_, "") + "\n";
    return std::exchange(text_, "");
  }

 private:
  std::string line_, text_;
};

/// The common options, one a line, then the names of the others.
std::string common_options(const VerbSpec& spec) {
  const std::vector<std::string> common = split(spec.common, ' ');
  std::string text;
  SharedLines others;
  for (const auto& group : spec.groups) {
    for (const Option& option : group.options) {
      if (group.elsewhere || option.hidden) continue;
      const auto is_common = [&](std::string_view name) {
        return std::ranges::find(common, name) != common.end();
      };
      if (std::ranges::any_of(long_names(option), is_common))
        text += own_line(option);
      else
        others.add(std::string{option.names});
    }
  }
  const std::string_view noun = spec.verb.substr(0, spec.verb.find(' '));
  return text + fmt::format("Some more options; rlock-{}(1) has all\n", noun) + others.flush();
}

std::string help_group(const VerbSpec::Group& group) {
  if (std::ranges::all_of(group.options, &Option::hidden)) return "";
  std::string text{group.title};
  if (!group.note.empty()) text = padded(text + "  ", kWidth - columns(group.note)) + std::string{group.note};
  text += "\n";
  SharedLines shared;
  for (const Option& option : group.options) {
    if (option.hidden) continue;
    if (option.help.empty())
      shared.add(shared_line(option));
    else
      text += shared.flush() + own_line(option);
  }
  text += shared.flush();
  return text;
}

std::ptrdiff_t lines(const std::string& text) { return std::ranges::count(text, '\n'); }

/// The text in lines of 80 columns. Lines that are empty or begin with a blank do not change.
std::string wrapped(std::string_view text) {
  std::string out, line;
  const auto flush = [&] {
    if (!line.empty()) out += std::exchange(line, "") + "\n";
  };
  for (const std::string& given : split(text, '\n')) {
    if (given.empty() || given.starts_with(' ')) {
      flush();
      out += given + "\n";
      continue;
    }
    for (const std::string& word : split(given, ' ')) {
      if (!line.empty() && columns(line) + 1 + columns(word) > kWidth) flush();
      line += (line.empty() ? "" : " ") + word;
    }
  }
  flush();
  return out;
}

/// The help above the examples.
std::string above_examples(const VerbSpec& spec, const std::string& options) {
  std::string text;
  for (const std::string_view usage : spec.usage)
    text += fmt::format("{} rlock {}\n", text.empty() ? "Usage:" : "      ", usage);
  text += wrapped(spec.about);
  if (!options.empty()) text += "\n" + options;
  if (!spec.notes.empty()) text += "\n" + wrapped(spec.notes);
  return text;
}

std::string example_text(const VerbSpec::Example& example) {
  const std::string line = fmt::format("  {}", example.line);
  return (example.remark.empty() ? line : padded(line + "  ", 46) + std::string{example.remark}) + "\n";
}

}  // namespace

std::string help_line(const Option& option) { return own_line(option); }

std::string help_screen(const VerbSpec& spec) {
  std::string all;
  // No blank line stands between the groups, because the screen has few lines.
  for (const auto& group : spec.groups)
    if (!group.elsewhere) all += help_group(group);
  const auto examples = static_cast<std::ptrdiff_t>(spec.examples.size());
  std::string screen = above_examples(spec, all);
  if (lines(screen) + 1 + examples > kScreenLines) screen = above_examples(spec, common_options(spec));
  if (examples > 0) screen += "\n";
  for (const auto& example : spec.examples)
    if (lines(screen) < kScreenLines) screen += example_text(example);
  return screen;
}

}  // namespace rlock
