#include "redis/connection/trust_store.h"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace rlock {

std::string trust_store() {
  constexpr std::array kPlaces{
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Alpine, our image
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
      "/etc/pki/tls/certs/ca-bundle.crt",                   // RHEL 6
      "/etc/ssl/ca-bundle.pem",                             // SUSE
      "/etc/ssl/cert.pem",                                  // Alpine without the package ca-certificates
  };
  const auto found =
      std::ranges::find_if(kPlaces, [](const char* path) { return ::access(path, R_OK) == 0; });
  return found != kPlaces.end() ? *found : "";
}

}  // namespace rlock
