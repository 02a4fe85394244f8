#pragma once

#include <string>
#include <vector>

#include "cmd/server/server_options.h"

namespace rlock {

/// Reads one config file into `options`: one `name = value` a line, `#` starts a line of comment, names are
/// the long server options. A byte order mark and carriage returns before newlines are skipped. A name may
/// stand once, except `url`. Throws Error{config} with file and line: unknown names, junk, a URL with a
/// password in a file that others can read, a file that others own (root may) or can write to, and whatever
/// is no regular file of at most 64 KiB. /dev/null says nothing.
void read_config(const std::string& path, ServerOptions& options);

/// The files that are read where neither --config nor RLOCK_CONFIG
/// names one, the more important first; those that exist.
std::vector<std::string> standard_configs();

}  // namespace rlock
