// rlock latch: a count-down latch, for clients that wait until others are done.

#include <fmt/format.h>

#include <array>

#include "base/key_text.h"
#include "base/log.h"
#include "base/owner_id.h"
#include "base/text.h"
#include "cmd/ask/latch_guard.h"
#include "cmd/ask/wait_lines.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/hold/request/holder_facts.h"
#include "cmd/server/key_options.h"
#include "cmd/verbs/counter.h"
#include "cmd/verbs/exit_without.h"
#include "cmd/verbs/verbs.h"
#include "sync/kinds/latch.h"
#include "sync/records/metadata.h"
#include "sync/wait/acquire.h"

namespace rlock {
namespace {

/// The common part of the verbs of this noun.
class LatchVerb : public Verb {
 protected:
  Latch latch(const Session& session) const {
    need_one_server(session, "a latch is");
    return Latch{session.name(key_), session.deployment.pub_sub()};
  }

  /// See finish_counter(). `absent`: what to say if there is no latch; by default, how to create one.
  int finish(const Session& session, const CounterAnswer& answer, const std::string& absent = {}) const {
    const LockName name = session.name(key_);
    return finish_counter(name, answer,
                          fmt::format("the latch {} exists, needs {}, and stays as it is", quoted(name),
                                      counted(answer.count, "more count")),
                          !absent.empty()
                              ? absent
                              : fmt::format("there is no latch {}; to create it: rlock latch set {} N",
                                            quoted(name), words_for(name)));
  }

  /// The same for a verb that changes the latch. Throws Error{wrong_type} if it is a pool.
  Latch latch_to_change(Session& session) const {
    Latch there = latch(session);
    refuse_pool(session, session.name(key_));
    return there;
  }

  /// rlock's record of a latch, which may outlive the latch.
  static std::optional<LatchRecord> record_of(Session& session, const Latch& latch) {
    return latch.read_record(session.first_reply(latch.record()));
  }
};

class LatchSet final : public LatchVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Create a latch that opens when clients have counted it down N times.";
    spec.examples = {{"rlock latch set built 3 --expire 1d", ""}};
    spec.operands.push_back({.name = "N", .set = number_between(total_, 1, kLargestCount)});
    spec.group("How long");
    spec.add({.names = "--expire",
              .value = "DUR",
              .help = "delete the latch after DUR if it is still closed",
              .manual = "Default: the server keeps the latch.",
              .set = into(expire_)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Latch made = latch_to_change(session);
    return finish(session,
                  made.read(session.ask(made.set(total_, expire_), with_retries({made.write_set(total_)}))));
  }

 private:
  std::int64_t total_ = 0;
  Milliseconds expire_{0};
};

class LatchDown final : public LatchVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Count a latch down. The last count opens the latch and wakes up its waiters.";
    spec.examples = {{"rlock latch down built", ""}};
    spec.group("How much");
    spec.add({.names = "--by",
              .value = "N",
              .help = "count down by N",
              .standard = "1",
              .set = number_between(by_, 1, kLargestCount)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Latch there = latch_to_change(session);
    const CounterAnswer answer =
        there.read_down(session.ask(there.down(by_), with_retries({there.write_down()})));
    const auto record =
        answer.how == CounterAnswer::How::absent ? record_of(session, there) : std::optional<LatchRecord>{};
    const bool was_opened = record && record->opened;
    return finish(session, answer,
                  was_opened ? fmt::format("the latch {} is open already", quoted(session.name(key_))) : "");
  }

 private:
  std::int64_t by_ = 1;
};

/// Waits for a latch, until it is set or until it is open.
class LatchWaiter {
 public:
  LatchWaiter(Session& session, const LockName& name, const WaitOptions& wait, TimePoint started)
      : session_(session),
        claim_{.name = name,
               .owner = new_owner(),
               .pub_sub = session.deployment.pub_sub(),
               .if_busy = wait.nonblock ? IfBusy::leave : IfBusy::place},
        lines_{session, {started, wait, {name}, "it is still closed"}},
        options_{lines_.options()} {
    options_.report = [this, show = options_.report](const Waiting& waiting) {
      note(waiting);
      show(waiting);
    };
  }

  /// Returns the exit status if the wait has failed. Empty: the latch is set, or it is open or missing.
  std::optional<int> wait(LatchWait::Until until) {
    const LatchWait wanted{claim_, until};
    const AcquireResult got = acquire(session_.redis, wanted, options_,
                                      {write_metadata(claim_.name, claim_.owner, wanted.hold_entry(),
                                                      kWaiterFacts, about_calling_script())});
    if (const auto* gave_up = std::get_if<GaveUp>(&got)) return exit_without(*gave_up, lines_);
    if (until == LatchWait::Until::set) closed_at_ = session_.redis.losses();
    return std::nullopt;
  }

  /// A latch that opens is deleted, as by Redisson. So if it was closed and is missing now, it counts as open. But if a
  /// connection was lost in between, the server may have restarted without its data.
  bool was_closed() const { return closed_at_ == session_.redis.losses(); }

 private:
  void note(const Waiting& waiting) {
    closed_at_.reset();
    if (waiting.busy != nullptr && waiting.failure == nullptr) closed_at_ = session_.redis.losses();
  }

  Session& session_;
  const Claim claim_;
  WaitLines lines_;
  AcquireOptions options_;
  /// If the last answer was "closed": the number of lost connections at that time.
  std::optional<std::uint64_t> closed_at_;
};

class WaitForLatch final : public LatchVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about =
        "Wait until a latch is open. If there is no latch, rlock exits at once: with 0 if a note says that "
        "it was opened in the last 24h, else with 1.";
    spec.examples = {{"rlock latch wait built -w 30m", ""}, {"rlock latch wait built --await-set", ""}};
    spec.group("If there is no latch");
    spec.add({.names = "--absent-ok",
              .help = "count a missing latch as open",
              .manual = "You cannot combine it with --await-set.",
              .set = into(absent_ok_)});
    spec.add(
        {.names = "--await-set",
         .help = "wait until the latch is created",
         .manual =
             "Then wait until it opens. If a note says that the latch was opened in the last 24 hours, rlock exits "
             "with status 0 at once. To wait for the next latch, give each latch a name of its own, or delete the "
             "note first with rlock latch delete.",
         .set = into(await_set_)});
  }

  int act(TimePoint started, std::vector<std::string>) override {
    if (absent_ok_ && await_set_) throw Error{Error::usage, "--absent-ok contradicts --await-set"};
    Session session{server_, wait_};
    static_cast<void>(latch(session));
    LatchWaiter waiter{session, session.name(key_), wait_, started};
    for (;;) {
      if (await_set_)
        if (const auto failed = waiter.wait(LatchWait::Until::set)) return *failed;
      if (const auto failed = waiter.wait(LatchWait::Until::open)) return *failed;
      if (absent_ok_ || waiter.was_closed()) return exit_code::ok;
      if (const auto known = await_set_ ? std::nullopt : without_waiting(session)) return *known;
      // We must not wait for ever if a client sets the latch again and again, or if the answers contradict each other.
      if (wait_.nonblock || session.now() >= wait_.until(started)) {
        info(fmt::format("the latch {} is still closed", quoted(session.name(key_))));
        return wait_.conflict_exit_code;
      }
    }
  }

 private:
  /// The exit status if there was no latch to wait for. Empty: a closed latch exists by now.
  std::optional<int> without_waiting(Session& session) const {
    const Latch there = latch(session);
    const CounterAnswer answer = there.read(session.ask(there.status()));
    if (answer.how == CounterAnswer::How::refused) return finish(session, answer);
    if (answer.how == CounterAnswer::How::done)
      return answer.count <= 0 ? std::optional{exit_code::ok} : std::nullopt;
    const auto record = record_of(session, there);
    if (record && record->opened) return exit_code::ok;
    info(fmt::format("there is no latch {}, and no note that it was opened; see --absent-ok and --await-set",
                     quoted(session.name(key_))));
    return exit_code::no;
  }

  bool absent_ok_ = false, await_set_ = false;
};

class LatchStatus final : public LatchVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Print whether a latch is open, or how many counts it still needs.";
    spec.examples = {{"rlock latch status built", ""}};
    spec.group("Reports");
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_, Session::Access::looks};
    const Latch there = latch(session);
    const CounterAnswer answer = there.read(session.ask(there.status()));
    if (answer.how == CounterAnswer::How::refused) return finish(session, answer);
    const LatchRecord record = record_of(session, there).value_or(LatchRecord{});
    const bool exists = answer.how == CounterAnswer::How::done;
    const bool open = exists ? answer.count <= 0 : record.opened.has_value();
    if (json_) {
      print_line(Json::document({{"key", session.name(key_)},
                                 {"name", typed(session.name(key_))},
                                 {"state", Json::word(open     ? "open"
                                                      : exists ? "closed"
                                                               : "unknown")},
                                 {"count", exists && !open ? Json{answer.count} : Json{}},
                                 {"total", record.total},
                                 {"set_at", record.set},
                                 {"opened_at", record.opened}})
                     .str());
    } else if (verbosity() != Verbosity::quiet) {
      const std::string name = sanitized(as_typed(session.name(key_)));
      print_line(open     ? fmt::format("{}: open", name)
                 : exists ? fmt::format("{}: closed, {} to go", name, answer.count)
                          : fmt::format("{}: unknown", name));
    }
    return open ? exit_code::ok : exit_code::no;
  }
};

class LatchDelete final : public LatchVerb {
 public:
  void declare(VerbSpec& spec) override {
    spec.about = "Delete a latch. Its waiters then count it as open, as with Redisson.";
    spec.examples = {{"rlock latch delete built", ""}};
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Latch there = latch_to_change(session);
    return finish(session, there.read(session.ask(there.remove(), with_retries({there.erase_record()}))),
                  fmt::format("there is no latch {}; if there was a note of one, it is deleted",
                              quoted(session.name(key_))));
  }
};

}  // namespace

VerbRows latch_verbs() {
  static constexpr std::array kRows{
      VerbEntry{.name = "latch set",
                .summary = "create a latch that opens after N counts",
                .takes = takes::counter | takes::server,
                .exits = "0 created, 1 the latch exists and stays as it is",
                .create = create<LatchSet>},
      VerbEntry{.name = "latch down",
                .summary = "count a latch down",
                .takes = takes::counter | takes::server,
                .exits = "0 done, 1 there is no latch",
                .create = create<LatchDown>},
      VerbEntry{.name = "latch wait",
                .summary = "wait until a latch is open",
                .takes = takes::counter | takes::wait | takes::server,
                .exits = "0 open, 1 there is no latch and no note of one, 75 still closed",
                .create = create<WaitForLatch>},
      VerbEntry{.name = "latch status",
                .summary = "print whether a latch is open",
                .takes = takes::counter | takes::server | takes::json,
                .exits = "0 open, 1 closed, or there is no latch and no note of one",
                .create = create<LatchStatus>},
      VerbEntry{.name = "latch delete",
                .summary = "delete a latch",
                .takes = takes::counter | takes::server,
                .exits = "0 done, 1 there is no latch",
                .create = create<LatchDelete>}};
  return kRows;
}

}  // namespace rlock
