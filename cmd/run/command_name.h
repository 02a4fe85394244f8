#pragma once

#include <string>
#include <vector>

namespace rlock {

/// What people call a command: the name of its program without the path; for an interpreter the name of its
/// script ("sh -eu /opt/backup.sh" is "backup.sh"), for a line of code "sh -c". Other arguments may hold
/// secrets, so they are left out. If the interpreter's options are unknown, its own name. REQUIRES: at
/// least one word.
std::string command_name(const std::vector<std::string>& argv);

/// The whole command, for a person to read: each word as a shell would take it.
std::string command_line(const std::vector<std::string>& argv);

}  // namespace rlock
