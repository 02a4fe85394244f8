#pragma once

#include <doctest/doctest.h>
#include <signal.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/resp_client.h"
#include "support/variable.h"

namespace rlock::test {

/// A state home for one test. The destructor ends its server, whatever the test did to it.
class StateHome {
 public:
  StateHome() { set_verbosity(Verbosity::quiet); }  // hides the message that a server was started
  ~StateHome() {
    set_verbosity(Verbosity::normal);
    const pid_t server = std::atoi(read_file(directory() + "/server.pid").c_str());
    if (server <= 0 || !alive(server)) return;
    ::kill(server, SIGKILL);
    eventually([&] { return !alive(server); });
  }

  std::string directory() const { return home_ / "rlock"; }
  std::string socket() const { return directory() + "/redis.sock"; }
  std::string ask(const Words& words) const { return RespClient{"unix:" + socket()}.ask(words); }

 private:
  TempDir home_;
  Variable variable_{"XDG_STATE_HOME", home_.path()};
};

inline Patience soon() { return within(10s); }

/// The text of the Error{kind} that `action` throws.
template <class Action>
std::string failure(Error::Kind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "went well";
}

}  // namespace rlock::test
