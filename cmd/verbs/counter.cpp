#include "cmd/verbs/counter.h"

#include <fmt/format.h>

#include "base/as_given.h"
#include "base/error.h"
#include "base/key_text.h"
#include "base/log.h"
#include "cmd/ask/unannounced.h"
#include "cmd/cli/exit_code.h"

namespace rlock {

void need_one_server(const Session& session, std::string_view what) {
  if (session.redis.nodes() > 1)
    throw Error{Error::usage, fmt::format("{} on one server; name one ({})", what, as_given("url", "--url"))};
}

int finish_counter(const LockName& key, const CounterAnswer& answer, const std::string& exists,
                   const std::string& absent) {
  say_unannounced(quoted(key) + ": done", answer.unannounced);
  switch (answer.how) {
    case CounterAnswer::How::done: return exit_code::ok;
    case CounterAnswer::How::exists: info(exists); return exit_code::no;
    case CounterAnswer::How::absent: info(absent); return exit_code::no;
    case CounterAnswer::How::refused: throw Error{Error::wrong_type, answer.refused.text};
  }
  return exit_code::internal;
}

}  // namespace rlock
