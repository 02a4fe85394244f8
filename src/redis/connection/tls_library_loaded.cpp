#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "redis/connection/tls_library.h"

namespace rlock::openssl {

#define RLOCK_DEFINE(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
RLOCK_OPENSSL_FUNCTIONS(RLOCK_DEFINE)  // NOLINT(readability-identifier-naming): OpenSSL's names
#undef RLOCK_DEFINE

namespace {

struct Function {
  const char* name;
  void (*set)(void* address);
};

constexpr std::array kFunctions{
#define RLOCK_ROW(name) Function{#name, [](void* at) { (name) = reinterpret_cast<decltype(name)>(at); }},
    RLOCK_OPENSSL_FUNCTIONS(RLOCK_ROW)
#undef RLOCK_ROW
};

/// Throws the error of the last call of the loader.
[[noreturn]] void refuse() {
  const char* const why = ::dlerror();
  throw Error{Error::unreachable,
              fmt::format("TLS needs OpenSSL {0} ({1}); install the package libssl{0}, or openssl",
                          OPENSSL_SHLIB_VERSION, sanitized(why != nullptr ? why : "no reason"))};
}

}  // namespace

void load_from(const std::string& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open until we end
  if (handle == nullptr) refuse();
  std::array<void*, kFunctions.size()> found{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    // This also finds functions of libcrypto, because libssl depends on it.
    found[i] = ::dlsym(handle, kFunctions[i].name);
    if (found[i] == nullptr) refuse();
  }
  for (std::size_t i = 0; i < found.size(); ++i) kFunctions[i].set(found[i]);  // all of them, or none
}

void load() {
  if (SSL_CTX_new == nullptr) load_from(fmt::format("libssl.so.{}", OPENSSL_SHLIB_VERSION));
}

bool linked() noexcept { return false; }

}  // namespace rlock::openssl
