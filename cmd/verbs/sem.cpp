// rlock sem: the classic counting semaphore. Its permits have no owner.

#include <fmt/format.h>

#include <array>

#include "base/key_text.h"
#include "base/log.h"
#include "base/owner_id.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/hold/request/holder_facts.h"
#include "cmd/verbs/exit_without.h"
#include "cmd/verbs/hand_over.h"
#include "cmd/verbs/pool_verbs.h"
#include "cmd/verbs/verbs.h"
#include "sync/kinds/semaphore.h"
#include "sync/records/metadata.h"
#include "sync/wait/acquire.h"

namespace rlock {
namespace {

class SemAcquire final : public PoolVerb {
 public:
  SemAcquire() : PoolVerb(PoolKind::semaphore) {}

  void declare(VerbSpec& spec) override {
    spec.about =
        "Acquire permits. They have no owner: if a client dies, only rlock sem release gives its permits "
        "back. The permits of rlock permit come back by themselves.";
    spec.examples = {{"rlock sem acquire slots -w 1m && { work; rlock sem release slots; }", ""},
                     {"rlock sem acquire slots --await-init -w 10m", ""}};
    spec.group("What to acquire");
    spec.add({.names = "--count",
              .value = "N",
              .help = "acquire N permits, all or none",
              .standard = "1",
              .set = number_between(count_, 1, kLargestCount)});
    spec.group("If there is no semaphore");
    spec.add(
        {.names = "--await-init",
         .help = "wait until the semaphore is created",
         .manual =
             "Without it, rlock exits with status 1 at once if there is no semaphore, or if it is deleted "
             "during the wait.",
         .set = into(await_init_)});
  }

  int act(TimePoint started, std::vector<std::string>) override {
    Session session{server_, wait_};
    need_one_server(session);
    const LockName name = session.name(key_);
    const Semaphore wanted{{.name = name,
                            .owner = new_owner(),
                            .pub_sub = session.deployment.pub_sub(),
                            .if_busy = wait_.nonblock ? IfBusy::leave : IfBusy::place},
                           count_,
                           await_init_ ? Semaphore::Absent::await : Semaphore::Absent::refuse};
    WaitLines lines{session, {started, wait_, {name}, "it has too few permits, or others wait for them"}};
    refuse_latch(session, started, wait_);
    const AcquireResult got = acquire(
        session.redis, wanted, lines.options(),
        {write_metadata(name, *wanted.asker(), wanted.hold_entry(), kWaiterFacts, about_calling_script())});
    if (const auto* gave_up = std::get_if<GaveUp>(&got)) return exit_without(*gave_up, lines);
    lines.acquired();
    return exit_code::ok;
  }

 private:
  std::int64_t count_ = 1;
  bool await_init_ = false;
};

class SemRelease final : public PoolVerb {
 public:
  SemRelease() : PoolVerb(PoolKind::semaphore) {}

  void declare(VerbSpec& spec) override {
    spec.about = "Release permits and wake up the waiters that get them.";
    spec.examples = {{"rlock sem release slots", ""}};
    spec.group("What to release");
    spec.add({.names = "--count",
              .value = "N",
              .help = "release N permits",
              .standard = "1",
              .set = number_between(count_, 1, kLargestCount)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    return finish(session, there.read_count(session.ask(there.add(count_))));
  }

 private:
  std::int64_t count_ = 1;
};

class SemDrain final : public PoolVerb {
 public:
  SemDrain() : PoolVerb(PoolKind::semaphore) {}

  void declare(VerbSpec& spec) override {
    spec.about = "Acquire all permits that are available, and print their number.";
    spec.examples = {{"taken=$(rlock sem drain slots)", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    const CounterAnswer answer = drain(session, there);
    const int status = finish(session, answer);
    if (status != exit_code::ok) return status;
    const std::string text =
        json_ ? document_of(session.name(key_), answer.count).str() : std::to_string(answer.count);
    const int failed = print_hold(session, text + "\n");
    if (failed == 0) return status;
    const bool released = undo(session, there);
    session.check_signals();
    refuse_output(failed, released ? "; the permits were released" : "");
  }

 private:
  /// If no answer comes, the server may still carry it out: no client would know of the permits.
  CounterAnswer drain(Session& session, const Pool& there) const try {
    return there.read_count(session.ask(there.drain()));
  } catch (const EndedBySignal&) {
    static_cast<void>(undo(session, there));
    throw;
  } catch (const Error& error) {
    if (error.kind() == Error::unreachable) static_cast<void>(undo(session, there));
    throw;
  }

  /// Returns false after a warning: the server has not confirmed it.
  [[nodiscard]] bool undo(Session& session, const Pool& there) const {
    const Call call = there.undo_drain();
    const Vote vote = session.redis.run_all(call, for_undo(), session.loop.within(kCleanupTime)).front();
    session.redis.send_on_abandoned({call});
    if (vote.good_reply()) return true;
    warn(fmt::format("release of permits of {} not confirmed ({}); see: rlock sem status",
                     quoted(session.name(key_)), vote.why().text));
    return false;
  }

  static Json document_of(const LockName& name, std::int64_t drained) {
    return Json::document({{"key", name}, {"name", typed(name)}, {"drained", drained}});
  }
};

}  // namespace

VerbRows sem_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = "sem init",
                .summary = "create a semaphore of N permits",
                .takes = takes::counter | takes::server,
                .exits = "0 created, 1 the semaphore exists and stays as it is",
                .create = [] { return pool_init_verb(PoolKind::semaphore); }},
      VerbEntry{.name = "sem acquire",
                .summary = "acquire permits",
                .takes = takes::counter | takes::wait | takes::server,
                .exits = "0 acquired, 1 there is no semaphore, 75 busy",
                .create = create<SemAcquire>},
      VerbEntry{.name = "sem release",
                .summary = "release permits",
                .takes = takes::counter | takes::server,
                .exits = "0 done, 1 there is no semaphore, and rlock creates none",
                .create = create<SemRelease>},
      VerbEntry{.name = "sem add",
                .summary = "add N permits, or remove some",
                .takes = takes::counter | takes::server,
                .exits = "0 done, 1 there is no semaphore",
                .create = [] { return pool_add_verb(PoolKind::semaphore); }},
      VerbEntry{.name = "sem drain",
                .summary = "acquire all available permits; print their number",
                .takes = takes::counter | takes::server | takes::json,
                .exits = "0 done, 1 there is no semaphore",
                .create = create<SemDrain>},
      VerbEntry{.name = "sem status",
                .summary = "print how many permits are available",
                .takes = takes::counter | takes::server | takes::json,
                .exits = "0 the semaphore exists, 1 it does not",
                .create = [] { return pool_status_verb(PoolKind::semaphore); }},
      VerbEntry{.name = "sem delete",
                .summary = "delete a semaphore",
                .takes = takes::counter | takes::server,
                .exits = "0 deleted, 1 there is no semaphore, or you answered no",
                .create = [] { return pool_delete_verb(PoolKind::semaphore); },
                .errors = kErrorsIfAsking},
  };
  return kRows;
}

}  // namespace rlock
