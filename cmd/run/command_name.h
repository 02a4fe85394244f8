#pragma once

#include <string>
#include <vector>

namespace rlock {

/// What people call a command: the name of its program without the path; of a script
/// that an interpreter runs the script's ("sh -eu /opt/backup.sh" is "backup.sh"), and
/// of a line of code the interpreter with its option ("sh -c"). No argument but those:
/// they hold secrets. Where the options of an interpreter are not understood, it is the interpreter.
/// REQUIRES: at least one word.
std::string command_name(const std::vector<std::string>& argv);

/// The whole command, for a person to read: each word as a shell would take it.
std::string command_line(const std::vector<std::string>& argv);

}  // namespace rlock
