#pragma once

#include <string_view>

namespace rlock {

/// Throws Error{usage} for a word that is no verb (`noun` empty) or none of that noun, with what was meant.
/// `before`: "help ", where the verb follows that word.
[[noreturn]] void refuse_verb(std::string_view noun, std::string_view word, std::string_view before = {});

}  // namespace rlock
