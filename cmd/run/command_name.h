#pragma once

#include <string>
#include <vector>

namespace rlock {

/// The name of a command, for people: the program without its path. For an interpreter, the name is that of
/// the script: "sh -eu /opt/backup.sh" is "backup.sh", and a line of code is "sh -c". If an option of the
/// interpreter is unknown, only the interpreter is named. Other arguments may be secrets, and are left out.
/// REQUIRES: at least one word.
std::string command_name(const std::vector<std::string>& argv);

/// The whole command for people, each word quoted for a shell.
std::string command_line(const std::vector<std::string>& argv);

}  // namespace rlock
