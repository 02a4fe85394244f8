#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// What somebody may have meant who typed `word`: the nearest
/// of `known`, if it is near enough to be worth a question.
/// Near: one mistake in three letters at most, where swapped neighbours count as one.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known);

/// " ./x -l": the words of a command as a shell takes them, a blank before each. Long commands are cut short.
std::string pasted(std::span<const std::string> words);

/// What stands behind the dashes of a word that begins with dashes of
/// typography, as texts have them: "k" of "–k", "wait" of "—wait".
/// Nothing: it begins with none.
std::optional<std::string_view> behind_typeset_dash(std::string_view word);

}  // namespace rlock
