#include "cmd/app/version.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "built_with.h"
#include "redis/connection/tls.h"

namespace rlock {

std::string version_text() {
  std::string text = fmt::format("rlock {}\n", RLOCK_VERSION);
  if (verbosity() != Verbosity::verbose) return text;
  const std::string_view libraries = RLOCK_BUILT_WITH;
  text += libraries;
  if (libraries.find("OpenSSL") != libraries.npos) return text;
  try {
    return text + fmt::format("OpenSSL {} (the system's, loaded for TLS)\n", tls_library_version());
  } catch (const Error& error) {  // a missing library is part of the answer
    return text + fmt::format("OpenSSL none ({})\n", error.what());
  }
}

}  // namespace rlock
