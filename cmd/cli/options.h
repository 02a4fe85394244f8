#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace rlock {

/// Takes the value of an option or an operand (of a switch: nothing), once per occurrence
/// and in the order typed: so the last one counts, and lists grow. Throws Error{usage}
/// whose text says what is wrong with the value; the parser names the option.
using Setter = std::function<void(std::string_view value)>;

/// What a shell may offer for a value.
enum class Offer {
  nothing,
  choices,
  examples,  ///< some of what it takes
  file,
  folder,
  key,
  counter,  ///< a key, also of an idle pool, semaphore or latch
  owner,    ///< of the KEY that has been typed
  profile,  ///< a section of the configuration files
};

/// One option, declared once: the parser, --help, the manual page and the completions all come from here.
struct Option {
  std::string_view names;          ///< as people read them: "-w, --wait"
  std::string_view value = {};     ///< what it takes: "DUR|forever"; empty: a switch
  std::string_view alone = {};     ///< the value where none is typed; one that is stands behind '=' only
  std::string_view help = {};      ///< its line on the screen; empty: it shares a line with its neighbours
  std::string_view standard = {};  ///< its default, shown in brackets: "30s"
  std::string_view manual = {};    ///< more than the screen has room for: its paragraph in the manual page
  Offer offer = Offer::nothing;
  std::string_view choices = {};  ///< of Offer::choices and Offer::examples: separated by blanks
  bool hidden = false;            ///< not on the screen
  bool no_dash = false;           ///< a value that begins with '-' is taken behind '=' only
  Setter set;
  bool configurable = false;       ///< the configuration files may say its default
  std::string_view variable = {};  ///< the variable of the environment that may do so
  Setter set_default = {};         ///< takes such a default after all typed options; empty: as `set`
};

struct ServerOptions;  // cmd/server/server_options.h

/// The default of an option as the environment or a configuration file says it.
struct OptionDefault {
  std::string name;  ///< the long name of the option, without dashes
  std::string value;
  std::string from;  ///< "RLOCK_WAIT", or where it stands in which file
};

/// A word that is no option.
struct Operand {
  std::string_view name = {};  ///< "KEY"
  std::string_view help = {};
  Offer offer = Offer::nothing;
  std::string_view choices = {};
  bool optional = false;
  bool many = false;              ///< takes all that is left
  std::string_view instead = {};  ///< the option that may stand for it: "key"
  bool no_dash = false;           ///< one that begins with '-' is taken as the value of that option only
  Setter set;
};

/// What fingers know from other programs, and what we say about it instead of "unknown option".
struct Foreign {
  std::string_view name;      ///< "--timeout"
  std::string_view sentence;  ///< "did you mean --wait or --max-hold?"
};

/// Everything that is said about one verb, in the order in which its screen shows it.
struct VerbSpec {
  struct Group {
    std::string_view title;
    std::string_view note;  ///< at the right edge: "[for ever]"
    std::vector<Option> options;
    bool elsewhere = false;  ///< understood by this verb, shown by `rlock --help`
  };
  struct Example {
    std::string_view line;
    std::string_view remark;
  };

  std::string_view verb;           ///< "lock acquire"
  std::vector<std::string> usage;  ///< without "rlock "
  std::string_view about;          ///< some sentences; the screen breaks them into lines
  std::vector<Operand> operands;
  std::vector<Group> groups;
  std::vector<Foreign> foreign;
  std::string_view unknown = {};  ///< what to do about an unknown option; empty: see the help of this verb
  std::string notes;              ///< between options and examples: exit statuses
  std::vector<Example> examples;
  /// The long names of the options that its screen explains if there is no room for all of them: "key wait".
  std::string_view common = {};
  bool command_follows = false;     ///< options end at the first operand, which starts a command
  bool* marked = nullptr;           ///< where to say that "--" stands before that command
  ServerOptions* server = nullptr;  ///< those of a verb that talks to a server

  VerbSpec& group(std::string_view title, std::string_view note = {});
  VerbSpec& add(Option option);

  /// Finds an option by its long name without dashes ("wait"), or by its letter ("w"). Null if there is
  /// none.
  const Option* find(std::string_view name) const noexcept;
};

/// Does the option take the next word as its value, if its own word has none?
bool takes_next_word(const Option& option);

/// What one word that begins with '-' names: "--wait=5s", "-nqE0". --help and --version are options of every verb.
struct [[nodiscard]] NamedOptions {
  std::vector<const Option*> options;  ///< of a bundle all up to the first that takes a value
  const Option* valued = nullptr;      ///< the last of them, if it takes a value
  bool joined = false;                 ///< that value stands in the same word, or may be left out
  bool known = false;                  ///< the word names options of this verb and nothing else
};
NamedOptions named_in(const VerbSpec& spec, std::string_view word);

/// --help and --version, which no verb declares.
const Option& help_option();
const Option& version_option();

/// The option with what it takes: "-w, --wait DUR", "--export[=SHELL]".
std::string with_value(std::string_view names, std::string_view value, const Option& option);

/// The long names of an option without dashes; the letters of an option.
std::vector<std::string_view> long_names(const Option& option);
std::string letters(const Option& option);

/// Do the manual and the completions speak of it? What no screen shows needs a paragraph for that.
bool is_documented(const Option& option);

/// Setters for the usual kinds of value. Each throws Error{usage} that says what it would have accepted.
Setter into(bool& flag);
Setter into(std::string& text);
Setter into(std::optional<std::string>& text);
Setter into(Milliseconds& duration);                 ///< more than zero
Setter into(std::optional<Milliseconds>& duration);  ///< more than zero
Setter zero_or_more(Milliseconds& duration);
Setter number(std::int64_t& number, std::int64_t least, std::int64_t most);
Setter number(std::optional<std::int64_t>& number, std::int64_t least, std::int64_t most);
Setter choice(std::string& text, std::string_view choices);

}  // namespace rlock
