#pragma once

#include <string>
#include <vector>

#include "cmd/server/server_setting.h"

namespace rlock {

/// A section `[name]` of a config file.
struct Profile {
  std::string name{};                ///< the wanted section; empty: none
  bool found = false;                ///< the file has this section
  ServerOptions options{};           ///< its settings
  std::vector<std::string> known{};  ///< the names of all sections
};

/// Reads a config file into `options`, and one of its sections into `profile`. Each line is `name = value`;
/// `#` starts a comment line; `[name]` starts a section. Names are those of the server settings, and of
/// options that are configurable. A byte order mark and carriage returns before newlines are skipped. Each
/// name may stand once in a section, except `url`. All sections are checked. /dev/null has no settings.
///
/// Throws Error{config} with file and line for an unknown name or a line that cannot be parsed. Refuses a URL
/// with a password if other users can read the file. Refuses a file that others can write to, or that belongs
/// to another user except root. Refuses anything but a regular file of at most 64 KiB.
void read_config(const std::string& path, ServerOptions& options, Profile& profile);

/// The files to read if neither --config nor RLOCK_CONFIG names one, the more important first. A file that does not
/// exist is left out; one that may exist, in a folder that we may not enter, is not.
std::vector<std::string> standard_configs();

}  // namespace rlock
