#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rlock {

/// Throws Error{usage} for a word that is no verb, or no verb of this noun, and suggests what the user may
/// have meant. `before`: "help " in `rlock help WORD`, else empty. `behind_it`: the words after `word`.
[[noreturn]] void refuse_verb(std::string_view noun, std::string_view word, std::string_view before = {},
                              std::span<const std::string> behind_it = {});

}  // namespace rlock
