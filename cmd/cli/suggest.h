#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// The word of `known` that the user may have meant by `word`: the nearest,
/// if it is near enough to be worth a question.
/// Near: one mistake in three letters at most, where swapped neighbours count as one.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known);

/// " ./x -l": the words of a command as a shell takes them, a blank before each. Long commands are cut short.
std::string pasted(std::span<const std::string> words);

/// The rest of a word behind dashes of typography, as texts have them:
/// "k" of "–k", "wait" of "—wait".
/// Empty if the word does not begin with one.
std::optional<std::string_view> behind_typeset_dash(std::string_view word);

}  // namespace rlock
