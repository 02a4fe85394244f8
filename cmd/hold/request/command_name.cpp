#include "cmd/hold/request/command_name.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace rlock {
namespace {

/// A program that runs scripts, and those of its options that have one letter.
struct Interpreter {
  std::string_view name;      ///< "python" also means python3 and python3.13
  std::string_view switches;  ///< letters that take no value
  std::string_view valued;    ///< letters that take the next word
  std::string_view code;      ///< letters whose value is the code or the module to run
};

constexpr std::string_view kShellSwitches = "abefhiklmnprtuvxBCEHPT";

constexpr std::array kInterpreters{
    Interpreter{.name = "sh", .switches = kShellSwitches, .valued = "oO", .code = "c"},
    Interpreter{.name = "bash", .switches = kShellSwitches, .valued = "oO", .code = "c"},
    Interpreter{.name = "dash", .switches = kShellSwitches, .valued = "o", .code = "c"},
    Interpreter{.name = "ash", .switches = kShellSwitches, .valued = "o", .code = "c"},
    Interpreter{.name = "ksh", .switches = kShellSwitches, .valued = "o", .code = "c"},
    Interpreter{.name = "zsh", .switches = kShellSwitches, .valued = "o", .code = "c"},
    Interpreter{.name = "fish", .switches = "iln", .code = "c"},
    Interpreter{.name = "python", .switches = "bBdEhiIOPqsSuvx", .valued = "WX", .code = "cm"},
    Interpreter{.name = "perl", .switches = "nptTuUwW", .code = "eE"},
    Interpreter{.name = "ruby", .switches = "nplswW", .code = "e"},
    Interpreter{.name = "node", .switches = "i", .valued = "r", .code = "ep"},
    Interpreter{.name = "php", .switches = "nq", .valued = "c", .code = "r"},
};

const Interpreter* find_interpreter(std::string_view program) {
  const auto is_version = [](std::string_view text) {
    return text.find_first_not_of("0123456789.") == std::string_view::npos;
  };
  const auto found = std::ranges::find_if(kInterpreters, [&](const Interpreter& each) {
    return program.starts_with(each.name) && is_version(program.substr(each.name.size()));
  });
  return found == kInterpreters.end() ? nullptr : &*found;
}

bool has(std::string_view letters, char letter) { return letters.find(letter) != std::string_view::npos; }

}  // namespace

std::string command_name(const std::vector<std::string>& argv) {
  // The first word of a login shell is "-bash".
  std::string_view program = base_name(argv.front());
  if (program.size() > 1 && program.front() == '-') program.remove_prefix(1);
  const Interpreter* interpreter = find_interpreter(program);
  if (interpreter == nullptr) return std::string{program};
  for (std::size_t at = 1; at < argv.size(); ++at) {
    const std::string_view word = argv[at];
    if (word == "--") continue;
    if (word.size() < 2 || word.front() != '-') return std::string{word == "-" ? program : base_name(word)};
    bool takes_next = false;
    for (const char letter : word.substr(1)) {
      if (has(interpreter->code, letter)) return std::string{program} + " -" + letter;
      takes_next = has(interpreter->valued, letter);
      if (!takes_next && !has(interpreter->switches, letter)) return std::string{program};
    }
    if (takes_next) ++at;
  }
  return std::string{program};
}

std::string command_line(const std::vector<std::string>& argv) { return joined(argv, " ", shell_quoted); }

}  // namespace rlock
