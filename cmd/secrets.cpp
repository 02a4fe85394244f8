#include "cmd/secrets.h"

#include <algorithm>

#include "base/error.h"
#include "cmd/terminal.h"

namespace rlock {

void hide_passwords(int argc, char** argv) noexcept {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t scheme = word.find("://");
    if (scheme == std::string_view::npos) continue;
    // A password may hold a literal '@' or '/' that makes the URL unparsable: then too it must not be seen.
    const std::size_t at = word.rfind('@');
    const std::size_t colon = word.find(':', scheme + 3);
    if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) continue;
    std::fill(argv[i] + colon + 1, argv[i] + at, '*');
  }
}

std::string ask_password() {
  std::string password =
      ask_secretly("Password: ", "--askpass: there is no terminal to ask on; use --password-file");
  if (password.empty()) throw Error{Error::usage, "--askpass: no password was typed"};
  return password;
}

}  // namespace rlock
