#pragma once

#include <array>
#include <string_view>

namespace rlock::test {

/// What must be true whatever the bytes are. Each throws std::logic_error where it is not.
/// fuzz_test.cpp and corpus_test.cpp try some thousand inputs in every run, the fuzzers (fuzzer.cpp) as many
/// as one likes.

/// Either Error{usage} with a text that a terminal may see, or a place that prints harmlessly and reads back
/// as the same.
void check_target(std::string_view bytes);

/// Either Error{usage}, or a duration between 0 and kLongest that exact() writes down and parse_duration()
/// reads back.
void check_duration(std::string_view bytes);

/// Nothing that a terminal obeys, valid UTF-8, no longer than escapes make it; what is harmless passes
/// unchanged.
void check_sanitized(std::string_view bytes);

/// Names beside a key contain it, and share its slot exactly when it is placeable().
void check_names(std::string_view bytes);

/// What a server may send, RESP2 or RESP3: the pieces in which it comes change nothing, and whoever reads a
/// reply of a script answers with a value, or throws an Error.
void check_replies(std::string_view bytes);

/// Either Error{config} with a text that a terminal may see, or a file that is read twice alike.
void check_config(std::string_view bytes);

/// RLOCK_STACK: what is read is written and read back as the same.
void check_stack(std::string_view bytes);

/// What a holder says of itself, and an entry of the history: any text, or none, and what people see of it
/// is harmless.
void check_metadata(std::string_view bytes);

/// A command line, one word a line, the verb's name first: either Error{usage} with a text that a terminal
/// may see, or options and a command whose words are those that came.
void check_argv(std::string_view bytes);

struct Property {
  std::string_view name;  ///< of its folder in tests/fuzz/corpus, and of its fuzzer: fuzz_<name>
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
