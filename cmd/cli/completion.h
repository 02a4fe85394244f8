#pragma once

#include <string>

namespace rlock {

/// The text that teaches a shell the words of rlock: verbs,
/// options, their values, files and the keys of a live server.
/// Made from the declarations of the verbs.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace rlock
