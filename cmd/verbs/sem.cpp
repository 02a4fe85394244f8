// rlock sem: the classic counting semaphore, whose permits nobody owns.

#include <fmt/format.h>

#include <array>

#include "base/key_text.h"
#include "base/random.h"
#include "base/text.h"
#include "cmd/ask/refusal.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/output.h"
#include "cmd/run/script_facts.h"
#include "cmd/verbs/pool_verbs.h"
#include "cmd/verbs/verbs.h"
#include "sync/kinds/semaphore.h"
#include "sync/watch/metadata.h"

namespace rlock {
namespace {

class Acquire final : public PoolVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about =
        "Take permits. Nobody owns them: who dies takes them along, and only rlock sem\n"
        "release gives them back. Permits that come back by themselves: rlock permit";
    spec.examples = {{"rlock sem acquire slots -w 1m && { work; rlock sem release slots; }", ""},
                     {"rlock sem acquire slots --await-init -w 10m", ""}};
    spec.group("What to take");
    spec.add({.names = "--count",
              .value = "N",
              .help = "so many, all or none",
              .standard = "1",
              .set = number(count_, 1, kMostPermits)});
    spec.group("When there is none");
    spec.add({.names = "--await-init",
              .help = "wait until somebody makes the semaphore",
              .manual =
                  "Without it rlock exits with status 1 at once if there is no semaphore, or if somebody "
                  "deletes it during the wait.",
              .set = into(await_init_)});
  }

  int act(TimePoint started, std::vector<std::string>) override {
    Session session{server_, &wait_};
    need_one_server(session);
    const LockName name = session.name(key_);
    const Semaphore wanted{{.name = name,
                            .owner = new_owner(),
                            .pub_sub = session.deployment.pub_sub(),
                            .turn = wait_.nonblock ? Turn::leave : Turn::queue},
                           count_,
                           await_init_ ? Semaphore::Absent::await : Semaphore::Absent::refuse};
    WaitLines lines{session.redis,
                    session.signals,
                    {session.deployment, started, wait_, {name}, "it has too few permits"}};
    refuse_latch(session, started, wait_);
    const Acquired got =
        acquire(session.redis, wanted, session.waiting(wait_, started, lines.listener()),
                {write_metadata(name, *wanted.asker(), wanted.evidence(), kFacts, about_the_script())});
    const auto* gave_up = std::get_if<GaveUp>(&got);
    if (gave_up)
      return end_in_vain(*gave_up, session, lines, wait_,
                         fmt::format("{} has too few permits now", quoted(wanted.name())));
    lines.acquired();
    return exit_code::ok;
  }

 private:
  /// What a waiter says of itself goes with its place in the line; this is for those who hold.
  static constexpr Milliseconds kFacts{1};

  std::int64_t count_ = 1;
  bool await_init_ = false;
};

class Release final : public PoolVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Give permits back, and wake who waits for them.";
    spec.examples = {{"rlock sem release slots", ""}};
    spec.group("What to give back");
    spec.add({.names = "--count",
              .value = "N",
              .help = "so many",
              .standard = "1",
              .set = number(count_, 1, kMostPermits)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    return finish(session, there.read_add(session.ask(there.add(count_))));
  }

 private:
  std::int64_t count_ = 1;
};

class Drain final : public PoolVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Take all permits that are available, and print how many that were.";
    spec.examples = {{"taken=$(rlock sem drain slots)", ""}};
    spec.add({.names = "--json", .help = "one document", .set = into(json_)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    const PoolAnswer answer = there.read_drain(session.ask(there.drain()));
    const int status = finish(session, answer);
    if (status != exit_code::ok) return status;
    const std::string text =
        json_ ? document_of(session.name(key_), answer.count).str() : std::to_string(answer.count);
    const int failed = try_print(text + "\n");
    if (failed == 0) return status;
    // Permits of which nobody knows would be gone for ever.
    if (answer.count > 0) session.ask(pool(session).add(answer.count));
    throw Error{Error::system, "write error on stdout; the permits were given back"};
  }

 private:
  static Json document_of(const LockName& name, std::int64_t drained) {
    return Json::object({{"v", 1}, {"key", name}, {"name", typed(name)}, {"drained", drained}});
  }

  bool json_ = false;
};

constexpr std::array kRows{
    VerbEntry{"sem init", "make a semaphore of N permits", takes::counter | takes::server,
              "0 made, 1 it exists and stays as it is", pool_init_verb},
    VerbEntry{"sem acquire", "take permits", takes::counter | takes::wait | takes::server,
              "0 taken, 1 no such semaphore, 75 not acquired", create<Acquire>},
    VerbEntry{"sem release", "give permits back", takes::counter | takes::server,
              "0 done, 1 no such semaphore; nothing is created", create<Release>},
    VerbEntry{"sem add", "make N more available", takes::counter | takes::server, "0 done, 1 nothing there",
              pool_add_verb},
    VerbEntry{"sem drain", "take all that is available", takes::counter | takes::server,
              "0 done, 1 no such semaphore", create<Drain>},
    VerbEntry{"sem status", "how many are available", takes::counter | takes::server,
              "0 it exists, 1 it does not", pool_status_verb},
    VerbEntry{"sem delete", "remove it", takes::counter | takes::server,
              "0 removed, 1 nothing there, or answered no", pool_delete_verb, kErrorsOfDelete}};

}  // namespace

VerbRows sem_verbs() { return kRows; }

}  // namespace rlock
