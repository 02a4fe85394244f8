#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlock {

/// The word of `known` that is nearest to `word`, if the user may have meant it. There may be one mistake in
/// three letters; swapped neighbours count as one. Empty: none is near enough.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known);

/// " ./x -l": the words of a command for a shell, with a blank before each. A long command is cut short.
std::string pasted(std::span<const std::string> words);

/// The rest of a word behind dashes of typography: "k" of "–k", "wait" of "—wait". Empty: the word does not
/// begin with such a dash.
std::optional<std::string_view> behind_typeset_dash(std::string_view word);

}  // namespace rlock
