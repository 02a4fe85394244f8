#include "redis/connection/tls_library.h"

namespace rlock::openssl {

#define RLOCK_DEFINE(name) decltype(&::name) name = &::name;  // NOLINT(bugprone-macro-parentheses)
RLOCK_OPENSSL_FUNCTIONS(RLOCK_DEFINE)  // NOLINT(readability-identifier-naming): OpenSSL's names
#undef RLOCK_DEFINE

void load() {}
bool linked() noexcept { return true; }

}  // namespace rlock::openssl
