#pragma once

#include <string>
#include <string_view>

namespace rlock {

/// The OPTIONS of a verb ("run", "lock acquire") for its
/// manual page, as man(7) macros, made from its declaration.
/// "server": the options that every verb has. Throws Error{internal} for a verb that there is not.
std::string manual_options(std::string_view verb);

/// A manual page in which the text between the lines `.\" options of VERB` and `.\" end of options` has been
/// generated again.
std::string with_fresh_options(std::string_view page);

}  // namespace rlock
