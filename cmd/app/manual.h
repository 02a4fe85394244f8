#pragma once

#include <map>
#include <string>
#include <string_view>

namespace rlock {

/// The OPTIONS of a verb ("run", "lock acquire") for its
/// manual page, as man(7) macros, made from its declaration.
/// "server": the options that every verb has. Throws Error{internal} for a verb that there is not.
std::string manual_options(std::string_view verb);

/// The list of verbs for rlock(1), in the order of the table of verbs. `purposes`: what the page of each first
/// word says of itself in its section NAME ("list" -> "one line a key: ..."); a word without a page is left out.
std::string manual_verbs(const std::map<std::string, std::string>& purposes);

/// A manual page in which the text between the lines `.\" options of VERB` and `.\" end of options`, and between
/// `.\" verbs` and `.\" end of verbs`, has been generated again.
std::string with_fresh_options(std::string_view page, const std::map<std::string, std::string>& purposes);

}  // namespace rlock
