#pragma once

#include <string>
#include <vector>

#include "cmd/server/server_options.h"

namespace rlock {

/// A section `[name]` of a config file, if it has one.
struct Profile {
  std::string name{};                ///< which one is looked for; empty: none
  bool found = false;                ///< there is one,
  ServerOptions options{};           ///< which says this
  std::vector<std::string> known{};  ///< the names of all
};

/// Reads one config file into `options`, and one of its sections into `profile`: one `name = value` a line,
/// `#` starts a line of comment, names are the long server options, `[name]` begins a section. A byte order
/// mark and carriage returns before newlines are skipped. A name may stand once, except `url`. Throws
/// Error{config} with file and line: unknown names, junk, a URL with a password in a file that others can
/// read, a file that others own (root may) or can write to, and what is no regular file of at most 64 KiB.
/// /dev/null says nothing. Sections that nobody asks for are read as strictly.
void read_config(const std::string& path, ServerOptions& options, Profile& profile);

/// The files that are read where neither --config nor RLOCK_CONFIG
/// names one, the more important first; those that exist.
std::vector<std::string> standard_configs();

}  // namespace rlock
