#pragma once

#include <map>
#include <string>
#include <string_view>

namespace rlock::test {

/// The OPTIONS section of a verb's manual page, as man(7) macros, made from the verb's declaration. `verb`:
/// for example "lock acquire"; "server": the options that are common to all verbs that talk to a server.
/// Throws Error{internal} for an unknown verb.
std::string manual_options(std::string_view verb);

/// A manual page whose generated parts are made anew. They stand between the lines `.\" options of VERB` and
/// `.\" end of options`, and between `.\" verbs` and `.\" end of verbs`. `purposes`: the first word of a verb -> the
/// text of the section NAME of its page. The list of verbs leaves out a word without a page.
std::string with_fresh_parts(std::string_view page, const std::map<std::string, std::string>& purposes);

}  // namespace rlock::test
