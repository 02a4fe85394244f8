#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace rlock {

/// Takes the value of an option or an operand; a switch has none. It is called for each occurrence in order,
/// so the last one counts, and lists grow. Throws Error{usage} with a text about the value; the parser adds
/// the name of the option.
using Setter = std::function<void(std::string_view value)>;

/// The candidates that a shell may offer for a value.
enum class Offer {
  nothing,
  choices,
  examples,  ///< some possible values
  file,
  folder,
  key,
  counter,  ///< a key, also of an idle pool, semaphore or latch
  owner,    ///< an owner of the KEY on the command line
  profile,  ///< a section of the config files
};

/// One option, declared once for the parser, --help, the manual page and the completions.
struct Option {
  std::string_view names;          ///< for people: "-w, --wait"
  std::string_view value = {};     ///< its value: "DUR|forever"; empty: it is a switch
  std::string_view alone = {};     ///< the value if none is typed; then a typed value must stand behind '='
  std::string_view help = {};      ///< its line in the help; empty: it shares a line with its neighbours
  std::string_view standard = {};  ///< its default, shown in brackets: "30s"
  std::string_view manual = {};    ///< its paragraph in the manual page, if the help line is too short
  Offer offer = Offer::nothing;
  std::string_view choices = {};  ///< for Offer::choices and Offer::examples: separated by blanks
  bool hidden = false;            ///< not in the help
  bool no_dash = false;           ///< a value that begins with '-' must stand in the same word
  Setter set;
  bool configurable = false;       ///< a config file may set its default
  std::string_view variable = {};  ///< the environment variable that may set its default
  Setter set_default = {};         ///< takes such a default after all typed options; empty: same as `set`
};

/// The default of an option, from the environment or a config file.
struct OptionDefault {
  std::string name;  ///< the long name of the option, without dashes
  std::string value;
  std::string from;  ///< "RLOCK_WAIT", or the section and the file
  int line = 0;      ///< in that file; 0: it is a variable

  /// The default as the user wrote it: "RLOCK_WAIT=5s", "wait = 5s in /etc/rlock/config line 3".
  std::string as_written() const;

  /// Lets the option take it. If the option refuses it, throws Error{config}, which says where the value
  /// stands.
  void give_to(const Option& option) const;
};

/// A word that is no option.
struct Operand {
  std::string_view name = {};  ///< "KEY"
  std::string_view help = {};
  Offer offer = Offer::nothing;
  std::string_view choices = {};
  bool optional = false;
  bool many = false;              ///< takes all remaining words
  std::string_view instead = {};  ///< the option that may replace it: "key"
  /// A word that begins with '-' is accepted only as the value of that option.
  bool no_dash = false;
  Setter set;
};

/// An option of another program, and our advice instead of "unknown option".
struct OtherToolOption {
  std::string_view name;      ///< "--timeout"
  std::string_view sentence;  ///< "did you mean --wait or --max-hold?"
};

/// The declaration of one verb, in the order of its help.
struct VerbSpec {
  struct Group {
    std::string_view title;
    std::string_view note;  ///< at the right edge: "[for ever]"
    std::vector<Option> options;
    bool elsewhere = false;  ///< the verb accepts them, but its help does not show them
  };
  struct Example {
    std::string_view line;
    std::string_view remark;
  };

  std::string_view verb;           ///< "lock acquire"
  std::vector<std::string> usage;  ///< without "rlock "
  std::string_view about;          ///< some sentences; the help breaks them into lines
  std::vector<Operand> operands;
  std::vector<Group> groups;
  std::vector<OtherToolOption> other_tools;
  std::string_view unknown = {};  ///< the advice for an unknown option; empty: see the help of this verb
  std::string notes;              ///< between options and examples: exit statuses
  std::vector<Example> examples;
  /// The long names of the options to explain if the help has no room for all: "key wait".
  std::string_view common = {};
  bool command_follows = false;  ///< options end at the first operand, which starts a command
  bool* marked = nullptr;        ///< set to true if "--" stands before that command
  /// Finds the default of an option in the environment and the config files. Empty: the verb reads none of them.
  std::function<std::optional<OptionDefault>(const Option&)> find_default = {};

  VerbSpec& group(std::string_view title, std::string_view note = {});
  VerbSpec& add(Option option);

  /// Finds an option by its long name without dashes ("wait"), or by its letter ("w"). Null: there is none.
  const Option* find(std::string_view name) const noexcept;

  /// The same. REQUIRES: there is one.
  const Option& option(std::string_view name) const;

  /// Is it one of the options with these names?
  bool is_one_of(const Option& option, std::initializer_list<std::string_view> names) const noexcept;
};

/// The options in a word that begins with '-': "--wait=5s", "-nqE0". Every verb has --help and --version.
struct [[nodiscard]] NamedOptions {
  std::vector<const Option*> options;  ///< in a bundle, all up to the first one with a value
  const Option* valued = nullptr;      ///< the last option, if it takes a value
  bool joined = false;                 ///< the value stands in the same word, or may be left out
  std::size_t before = 0;  ///< the length of "--type=" or "-nk" before such a value; 0: there is none
  bool known = false;      ///< the word has only options of this verb
};
NamedOptions named_in(const VerbSpec& spec, std::string_view word);

/// --help and --version, which no verb declares.
const Option& help_option();
const Option& version_option();

/// The option with its value: "-w, --wait DUR", "--export[=SHELL]".
std::string with_value(std::string_view names, std::string_view value, const Option& option);

/// The long names of an option without dashes, and its letters.
std::vector<std::string_view> long_names(const Option& option);
std::string letters(const Option& option);

/// Do the manual and the completions show it? A hidden option needs a paragraph for that.
bool is_documented(const Option& option);

/// Setters for the usual kinds of value. If one refuses a value, it throws Error{usage} that says what it
/// accepts.
Setter into(bool& flag);
Setter into(std::string& text);
Setter into(std::optional<std::string>& text);
/// Refuses an empty name, and "-", by which users mean the standard output. `what`: for the error, such as "a file".
Setter path_into(std::string& path, std::string_view what);
Setter into(Milliseconds& duration);                 ///< more than zero
Setter into(std::optional<Milliseconds>& duration);  ///< more than zero
Setter zero_or_more(Milliseconds& duration);
Setter choice(std::string& text, std::string_view choices);

/// A number in decimal digits. Throws Error{usage} if it is none, or lies outside.
std::int64_t count_between(std::string_view value, std::int64_t least, std::int64_t most);

template <class Number>
Setter number_between(Number& target, std::int64_t least, std::int64_t most) {
  return [&target, least, most](std::string_view value) {
    target = static_cast<Number>(count_between(value, least, most));
  };
}

/// The place of a word among the choices, counted from 0. Throws Error{usage} if it is none of them.
std::size_t place_among(std::string_view choices, std::string_view word);

/// One of some words, "fail skip run": the value at the same place of `values`.
template <class Value>
Setter one_of(Value& target, std::string_view choices, std::vector<Value> values) {
  return [&target, choices, values = std::move(values)](std::string_view word) {
    target = values.at(place_among(choices, word));
  };
}

/// --json, for a verb that can print its answer as a JSON document.
void declare_json(VerbSpec& spec, bool& json, std::string_view help = "print a JSON document",
                  std::string_view manual = {});

}  // namespace rlock
