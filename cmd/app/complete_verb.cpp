// rlock complete SHELL: answers a shell when the user presses TAB. No help lists it, because users do not
// type it.

#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cmd/app/app_verbs.h"
#include "cmd/app/completion.h"
#include "cmd/app/shell_line.h"
#include "cmd/ask/candidates.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/cli/parser.h"
#include "cmd/server/server_options.h"
#include "cmd/server/session.h"
#include "cmd/server/settings.h"

namespace rlock {
namespace {

/// How long a user who pressed TAB waits for a silent server.
constexpr Milliseconds kTabAnswer{500};

/// The command line comes on stdin, because it may have a URL with a password, and all users can read
/// arguments.
std::string read_stdin() {
  std::string all;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(STDIN_FILENO, part.data(), part.size())) > 0;)
    all.append(part.data(), static_cast<std::size_t>(got));
  return all;
}

/// The options on the command line that name the server, with short timeouts.
ServerOptions server_in(const Completion& found) {
  VerbSpec spec;
  ServerOptions server;
  declare_server_options(spec, server);
  static_cast<void>(parse(spec, found.server));
  server.connect_timeout = server.command_timeout = kTabAnswer;
  return server;
}

/// The candidates that only a server or a config file knows.
std::vector<std::string> ask(const Completion& found) {
  switch (found.offer) {
    case Offer::nothing:
    case Offer::choices:
    case Offer::examples:
    case Offer::file:
    case Offer::folder: return {};
    case Offer::profile: return profile_names(server_in(found));
    case Offer::owner:
      if (found.key.empty()) return {};
      break;
    case Offer::key:
    case Offer::counter: break;
  }
  Session session{server_in(found), Session::Access::looks};
  if (found.offer == Offer::owner) return owner_candidates(session, found.key);
  return key_candidates(session, found.offer);
}

class Complete final : public Verb {
 public:
  void declare(VerbSpec& spec) override {
    spec.usage = {"complete bash|zsh|fish"};
    spec.about = "Answer a shell in which you have pressed TAB; the scripts in completions/ call this.";

    spec.operands.push_back({.name = "SHELL", .set = choice(shell_, "bash zsh fish")});
  }

  int act(TimePoint, std::vector<std::string>) override {
    const ShellLine line{shell_, read_stdin()};
    Completion found = complete(line.words());
    for (std::string& word : ask(found)) found.words.push_back({std::move(word)});
    print(line.answer(found));
    return exit_code::ok;
  }

 private:
  std::string shell_;
};

}  // namespace

VerbRows complete_verbs() {
  static constexpr VerbEntry kRow{
      .name = "complete", .summary = "answer a shell that completes", .create = create<Complete>};
  return {&kRow, 1};
}

}  // namespace rlock
