#pragma once

#include <string>
#include <vector>

namespace rlock {

/// The name of a command, for people. It is the program without its path. For an interpreter it is the
/// script: "sh -eu /opt/backup.sh" is "backup.sh", and a line of code is "sh -c". Other arguments are left
/// out, because they may be secrets. If an option of the interpreter is unknown, it is the interpreter.
/// REQUIRES: at least one word.
std::string command_name(const std::vector<std::string>& argv);

/// The whole command for people, each word quoted for a shell.
std::string command_line(const std::vector<std::string>& argv);

}  // namespace rlock
