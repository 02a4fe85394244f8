#pragma once

#include <string>
#include <vector>

namespace rlock {

/// The name of a command, for people: the program without its path. If an interpreter runs a script, the name is that
/// of the script: "sh -eu /opt/backup.sh" gives "backup.sh". If it runs code from its arguments: "sh -c", for example.
/// If we do not know an option of the interpreter, the name is that of the interpreter. All other arguments are left
/// out, because they may be secrets. REQUIRES: at least one word.
std::string command_name(const std::vector<std::string>& argv);

/// The whole command for people, each word quoted for a shell.
std::string command_line(const std::vector<std::string>& argv);

}  // namespace rlock
