#pragma once

#include <array>
#include <string_view>

namespace rlock::test {

/// These properties must hold for all bytes. A check throws std::logic_error if its property fails. In every
/// run of the tests, fuzz_test.cpp and corpus_test.cpp try thousands of inputs. The fuzzers (fuzzer.cpp) run
/// as long as one likes.

/// The bytes give either Error{usage} with a text that a terminal may show, or a target. The target prints
/// harmlessly, and its URL reads back as the same target.
void check_target(std::string_view bytes);

/// The bytes give either Error{usage}, or a duration between 0 and kLongest that survives exact() and
/// parse_duration().
void check_duration(std::string_view bytes);

/// The result is valid UTF-8, contains nothing that controls a terminal, and is no longer than escapes make
/// it. Harmless text passes unchanged.
void check_sanitized(std::string_view bytes);

/// Names beside a key contain the key. They share its slot exactly when the key is placeable().
void check_names(std::string_view bytes);

/// The bytes are replies of a server, in RESP2 or RESP3. The result does not depend on the pieces in which
/// they arrive. Each reader of script replies returns a value or throws an Error.
void check_replies(std::string_view bytes);

/// The bytes give either Error{config} with a text that a terminal may show, or a config file that reads the
/// same twice.
void check_config(std::string_view bytes);

/// RLOCK_STACK: the entries that were read survive writing and reading.
void check_stack(std::string_view bytes);

/// The facts of a holder, or an entry of the history: any text, or none. The text shown to users is harmless.
void check_metadata(std::string_view bytes);

/// A command line, one word per line, with the verb's name first. It gives either Error{usage} with a text
/// that a terminal may show, or options and a command; the command's words are unchanged.
void check_argv(std::string_view bytes);

struct Property {
  std::string_view name;  ///< the name of its folder in tests/fuzz/corpus, and of its fuzzer: fuzz_<name>
  void (*check)(std::string_view bytes);
};

constexpr std::array<Property, 9> kProperties{{{"target", check_target},
                                               {"duration", check_duration},
                                               {"sanitized", check_sanitized},
                                               {"names", check_names},
                                               {"replies", check_replies},
                                               {"config", check_config},
                                               {"stack", check_stack},
                                               {"metadata", check_metadata},
                                               {"argv", check_argv}}};

}  // namespace rlock::test
