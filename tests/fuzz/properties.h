#pragma once

#include <string_view>

namespace rlock::test {

/// What must be true whatever the bytes are. Each throws std::logic_error where it is not.
/// tests/fuzz/fuzz_test.cpp tries some thousand inputs in every run, the fuzzers beside this file as many as
/// one likes.

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

}  // namespace rlock::test
