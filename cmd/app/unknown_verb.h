#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rlock {

/// Throws Error{usage} for a word that is no verb (`noun` empty) or none of that noun, with what was meant.
/// `before`: "help ", where the verb follows that word. `behind_it`: the words that follow.
[[noreturn]] void refuse_verb(std::string_view noun, std::string_view word, std::string_view before = {},
                              std::span<const std::string> behind_it = {});

}  // namespace rlock
