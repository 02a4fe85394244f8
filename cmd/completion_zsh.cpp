#include <fmt/format.h>

#include "base/text.h"
#include "cmd/completion.h"
#include "cmd/completion_words.h"

namespace rlock {
namespace {

constexpr std::string_view kHead = R"zsh(#compdef rlock
# zsh completion for rlock, written by: rlock completion zsh

# The keys of the server that the command line names, or else of the one that rlock would ask.
_rlock_keys() {
  local -a server keys
  local i
  for ((i = 1; i < CURRENT; i++)); do
    case $words[i] in
      -u | --url) server+=("${(Q)words[i + 1]}") ;;
      --url=*) server+=("${(Q)words[i]#*=}") ;;
    esac
  done
  # A URL may hold a password: everybody can read arguments.
  (($#server)) && local -x RLOCK_URL="$server"
  keys=("${(@f)$(rlock inspect --completion --connect-timeout 500ms --command-timeout 500ms 2>/dev/null </dev/null)}")
  compadd -a keys
}

)zsh";

/// Text inside the brackets and between the colons of a specification of _arguments.
std::string escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += ' ';
      continue;
    }
    if (std::string_view{"[]:\\"}.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string action(Offer offer, std::string_view choices) {
  switch (offer) {
    case Offer::choices: return fmt::format("({})", choices);
    case Offer::file: return "_files";
    case Offer::folder: return "_files -/";
    case Offer::key: return "_rlock_keys";
    case Offer::command: return "_command_names -e";
    case Offer::nothing:
    case Offer::owner: break;
  }
  return "( )";
}

std::string specification(const Option& option) {
  const std::vector<std::string> names = spelled_names(option);
  const std::string_view help = option.help.empty() ? option.manual : option.help;
  // A screen has room for one line.
  std::string rest = fmt::format("[{}]", escaped(help.substr(0, help.find_first_of(".\n"))));
  if (!option.value.empty())
    rest += fmt::format(":{}:{}", escaped(option.value), action(option.offer, option.choices));
  std::string text;
  for (const std::string& name : names) {
    // "-w+": the value may stand in the same word or the next; "--wait=": also behind an equals sign.
    const std::string_view glue = option.value.empty() ? "" : name.size() == 2 ? "+" : "=";
    text += fmt::format("        {} \\\n", single_quoted(fmt::format("*{}{}{}", name, glue, rest)));
  }
  return text;
}

std::string arguments(const Declaration& told) {
  std::string text = "      _arguments -s -S \\\n";
  for (const Option& option : offered_options(told)) text += specification(option);
  for (const Operand& operand : told.operands) {
    text += fmt::format("        {} \\\n",
                        single_quoted(fmt::format("{}:{}:{}", operand.many ? "*" : "", escaped(operand.name),
                                                  action(operand.offer, operand.choices))));
  }
  if (told.command_follows) text += "        '(-)1:command:_command_names -e' '*::arguments:_normal' \\\n";
  return text + "        && ret=0\n      ;;\n";
}

std::string noun_function() {
  std::string text = "_rlock_verbs() {\n  local -a verbs\n  case $1 in\n";
  for (const std::string& noun : nouns()) {
    std::string lines;
    for (const VerbEntry& entry : verbs()) {
      if (entry.name.starts_with(noun + " "))
        lines += " " + single_quoted(
                           fmt::format("{}:{}", entry.name.substr(noun.size() + 1), escaped(entry.summary)));
    }
    if (!lines.empty()) text += fmt::format("    {}) verbs=({}) ;;\n", noun, lines.substr(1));
  }
  return text + "  esac\n  _describe verb verbs\n}\n\n";
}

}  // namespace

std::string zsh_completion() {
  std::string text = std::string{kHead} + noun_function();
  std::string words, pairs;
  for (const std::string& noun : nouns()) {
    words += "    " + single_quoted(fmt::format("{}:{}", noun, escaped(about_noun(noun)))) + "\n";
    if (!find_verb(noun)) pairs += (pairs.empty() ? "" : " | ") + noun;
  }
  text += fmt::format(
      "_rlock() {{\n"
      "  local ret=1 verb\n"
      "  local -a nouns\n"
      "  nouns=(\n{}  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe verb nouns && ret=0\n"
      "    compadd -- --help --version && ret=0\n"
      "    return ret\n"
      "  fi\n"
      "  verb=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $verb in\n"
      "    {})\n"
      "      if ((CURRENT == 2)); then\n"
      "        _rlock_verbs $verb\n"
      "        return\n"
      "      fi\n"
      "      verb+=\" $words[2]\"\n"
      "      shift words\n"
      "      ((CURRENT--))\n"
      "      ;;\n"
      "  esac\n"
      "  case $verb in\n",
      words, pairs);
  for_each_verb([&](const VerbEntry& entry, const Declaration& told) {
    text += fmt::format("    {})\n{}", single_quoted(entry.name), arguments(told));
  });
  return text +
         "  esac\n"
         "  return ret\n"
         "}\n\n"
         "# Sourced, it registers itself; found in $fpath, it is called.\n"
         "if [[ $funcstack[1] == _rlock ]]; then\n"
         "  _rlock \"$@\"\n"
         "else\n"
         "  compdef _rlock rlock\n"
         "fi\n";
}

}  // namespace rlock
