#include "cmd/script_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace rlock {

Metadata about_the_script() {
  const pid_t script = ::getppid();
  std::string command;
  std::ifstream file{fmt::format("/proc/{}/comm", script)};
  std::getline(file, command);
  Metadata facts = about_us(command.empty() ? "?" : command);
  facts.pid = script;
  facts.renews = false;
  return facts;
}

}  // namespace rlock
