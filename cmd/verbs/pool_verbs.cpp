// The verbs that `sem` and `permit` share: init, add, status and delete. A verb asks its row in the table (PoolNoun,
// kSem and kPermit) for what differs: the texts, the options that only one noun has, and when delete asks first. The
// verbs that only one noun has are in sem.cpp and permit.cpp, and derive from PoolVerb, too.

#include "cmd/verbs/pool_verbs.h"

#include <fmt/format.h>

#include <utility>

#include "base/key_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/ask/inspector.h"
#include "cmd/ask/latch_guard.h"
#include "cmd/cli/confirm.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/json.h"
#include "cmd/cli/output.h"
#include "cmd/server/key_options.h"
#include "cmd/view/inspection_text.h"
#include "sync/calls/keys.h"
#include "sync/kinds/permit_lock.h"
#include "sync/records/metadata.h"

namespace rlock {

/// The options of init and status that only one of the nouns has.
struct PoolOptions {
  Milliseconds expire{0};         ///< init --expire
  std::optional<std::string> id;  ///< status --id
};

namespace {

void declare_expire(VerbSpec& spec, PoolOptions& options) {
  spec.group("How long");
  spec.add({.names = "--expire",
            .value = "DUR",
            .help = "delete the semaphore after DUR",
            .standard = "never",
            .manual = "The server deletes the semaphore even if clients hold permits or wait for some.",
            .set = into(options.expire)});
}

void declare_id(VerbSpec& spec, PoolOptions& options) {
  spec.examples.push_back({"rlock permit status seats --id \"$id\"", ""});
  spec.add(
      {.names = "--id",
       .value = "ID",
       .help = "print when the lease of this permit ends",
       .manual =
           "If no client holds the permit any more, rlock exits with status 1. In JSON, ttl_ms is the rest of the "
           "lease, or -1 if the permit has no lease.",
       .set = [&options](std::string_view text) { options.id = permit_id(text); }});
}

void declare_nothing(VerbSpec&, PoolOptions&) {}

bool has_permits(const Inspection& found) { return found.available.has_value(); }

bool has_holders(const Inspection& found) { return !found.holders.empty(); }

/// The permits of a semaphore have no holders.
std::vector<Call> forget_nothing(const LockName&) { return {}; }

std::vector<Call> forget_holders_of(const LockName& name) { return {erase_all_metadata(name)}; }

}  // namespace

/// What differs between the verbs of `sem` and those of `permit`.
struct PoolNoun {
  std::string_view word;
  std::string_view init_about;
  std::string_view init_example;
  std::int64_t least;  ///< the smallest N of init
  void (*declare_init)(VerbSpec& spec, PoolOptions& options);
  std::string_view add_example;
  std::string_view remove_example;
  std::string_view status_about;
  std::string_view status_example;
  void (*declare_status)(VerbSpec& spec, PoolOptions& options);
  std::string_view delete_about;
  std::string_view delete_example;
  std::string_view yes_manual;
  bool (*asks_first)(const Inspection& found);  ///< delete without --yes
  std::string_view delete_warning;
  std::vector<Call> (*forget_holders)(const LockName& name);  ///< see PoolVerb::forget_holders()
};

namespace {

constexpr PoolNoun kSem{
    .word = "sem",
    .init_about = "Create a semaphore of N permits. The permits have no owner.",
    .init_example = "rlock sem init slots 4",
    .least = 0,
    .declare_init = declare_expire,
    .add_example = "rlock sem add slots 2",
    .remove_example = "rlock sem add slots -- -2",
    .status_about = "Print how many permits are available.",
    .status_example = "rlock sem status slots",
    .declare_status = declare_nothing,
    .delete_about =
        "Delete a semaphore. rlock asks first, since it cannot know whether clients hold permits.",
    .delete_example = "rlock sem delete --yes slots",
    .yes_manual =
        "Without it, rlock asks, because it cannot know whether clients hold permits. If there "
        "is no terminal, it exits with status 64.",
    .asks_first = has_permits,
    .delete_warning = "cannot know whether clients hold permits of this semaphore",
    .forget_holders = forget_nothing};

constexpr PoolNoun kPermit{
    .word = "permit",
    .init_about = "Create a pool of N permits. A holder has each permit for the time of a lease.",
    .init_example = "rlock permit init seats 4",
    .least = 1,
    .declare_init = declare_nothing,
    .add_example = "rlock permit add seats 2",
    .remove_example = "rlock permit add seats -- -2",
    .status_about =
        "Print how many permits are available, of how many. rlock inspect KEY prints the holders.",
    .status_example = "rlock permit status seats",
    .declare_status = declare_id,
    .delete_about = "Delete a pool. If clients hold permits, rlock asks first.",
    .delete_example = "rlock permit delete seats",
    .yes_manual =
        "Without it, if clients hold permits, rlock asks first. If there is no terminal, it then "
        "exits with status 64.",
    .asks_first = has_holders,
    .delete_warning = "the holders learn of this when they renew; rlock run then stops its command",
    .forget_holders = forget_holders_of};

class PoolInit final : public PoolVerb {
 public:
  explicit PoolInit(PoolKind kind) : PoolVerb(kind) {}

  void declare(VerbSpec& spec) override {
    spec.about = noun().init_about;
    spec.examples = {{noun().init_example, ""}};
    spec.operands.push_back({.name = "N", .set = number_between(total_, noun().least, kLargestCount)});
    noun().declare_init(spec, options_);
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    need_one_server(session);
    const Pool made{session.name(key_), kind(), session.deployment.pub_sub()};
    const CounterAnswer answer = made.read(session.ask(made.init(total_, options_.expire)));
    if (answer.how == CounterAnswer::How::exists) refuse_latch(session);
    return finish(session, answer);
  }

 private:
  std::int64_t total_ = 0;
  PoolOptions options_;
};

class PoolAdd final : public PoolVerb {
 public:
  explicit PoolAdd(PoolKind kind) : PoolVerb(kind) {}

  void declare(VerbSpec& spec) override {
    spec.about =
        "Add N permits and wake up the waiters that get them. A negative N (after --) removes permits; "
        "rlock does not wait until they are free.";
    spec.examples = {{noun().add_example, ""}, {noun().remove_example, ""}};
    spec.operands.push_back({.name = "N", .set = number_between(more_, -kLargestCount, kLargestCount)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    if (more_ == 0) throw Error{Error::usage, "N: 0 changes nothing"};
    Session session{server_};
    const Pool there = pool(session);
    return finish(session, there.read_count(session.ask(there.add(more_))));
  }

 private:
  std::int64_t more_ = 0;
};

class PoolStatus final : public PoolVerb {
 public:
  explicit PoolStatus(PoolKind kind) : PoolVerb(kind) {}

  void declare(VerbSpec& spec) override {
    spec.about = noun().status_about;
    spec.examples = {{noun().status_example, ""}};
    noun().declare_status(spec, options_);
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_, Session::Access::looks};
    const Pool there = pool(session);
    const auto& id = options_.id;
    const auto answer = there.read_status(session.ask(id ? there.status(*id) : there.status()));
    if (const auto* refused = std::get_if<Refused>(&answer)) throw Error{Error::wrong_type, refused->text};
    const auto& status = std::get<std::optional<Pool::Status>>(answer);
    if (json_ || verbosity() != Verbosity::quiet) print_line(line(session.name(key_), status));
    return status && (!id || status->rest) ? exit_code::ok : exit_code::no;
  }

 private:
  std::string line(const LockName& name, const std::optional<Pool::Status>& status) const {
    const Pool::Status known = status.value_or(Pool::Status{});
    const auto& id = options_.id;
    if (json_) {
      Json::Fields fields{{"key", name},
                          {"name", typed(name)},
                          {"exists", status.has_value()},
                          {"available", status ? Json{known.available} : Json{}},
                          {"total", known.total}};
      if (id) fields.insert(fields.end(), {{"id", to_hex(*id)}, {"ttl_ms", known.rest}});
      return Json::document(std::move(fields)).str();
    }
    if (!status) return fmt::format("{}: nothing there", sanitized(as_typed(name)));
    if (id) return fmt::format("{}: {} {}", sanitized(as_typed(name)), to_hex(*id), rest_text(known));
    return fmt::format("{}: {}", sanitized(as_typed(name)), available_text(known.available, known.total));
  }

  static std::string rest_text(const Pool::Status& status) {
    if (!status.rest) return "is not taken";
    return *status.rest < Milliseconds{0} ? "never ends" : "ends in " + describe(*status.rest);
  }

  PoolOptions options_;
};

class PoolDelete final : public PoolVerb {
 public:
  explicit PoolDelete(PoolKind kind) : PoolVerb(kind) {}

  void declare(VerbSpec& spec) override {
    spec.about = noun().delete_about;
    spec.examples = {{noun().delete_example, ""}};
    spec.group("Confirmation");
    spec.add({.names = "-y, --yes", .help = "do not ask", .manual = noun().yes_manual, .set = into(yes_)});
  }

  int act(TimePoint, std::vector<std::string>) override {
    Session session{server_};
    const Pool there = pool(session);
    if (!yes_ && !agreed_to(session)) return exit_code::no;
    return finish(session, there.read(session.ask(there.remove(), with_retries(forget_holders(session)))));
  }

 private:
  /// If clients may hold permits, prints the key and asks the user. Returns whether to delete it.
  bool agreed_to(Session& session) const {
    const Inspection found = inspect(session, session.name(key_));
    if (!noun().asks_first(found)) return true;
    print_on_stderr(inspections_text({found}));
    warn(noun().delete_warning);
    if (confirm(fmt::format("Remove {} {}?", noun_of(kind()), quoted(found.name)))) return true;
    info("not removed: " + quoted(found.name));
    return false;
  }

  bool yes_ = false;
};

}  // namespace

std::string permit_id(std::string_view text) {
  auto id = from_hex(text);
  if (!id || id->size() != kPermitIdBytes)
    throw Error{Error::usage,
                fmt::format("{} is no permit id; expected 32 hexadecimal digits, as rlock permit "
                            "acquire and rlock inspect -v print them",
                            in_quotes(text))};
  return *std::move(id);
}

const PoolNoun& PoolVerb::noun() const { return kind_ == PoolKind::semaphore ? kSem : kPermit; }

Pool PoolVerb::pool(Session& session) const {
  need_one_server(session);
  refuse_latch(session);
  return Pool{session.name(key_), kind(), session.deployment.pub_sub()};
}

void PoolVerb::refuse_latch(Session& session, TimePoint started, const WaitOptions& wait) const {
  if (const auto could_not_ask = rlock::refuse_latch(session, session.name(key_), kind(), started, wait))
    session.fail(*could_not_ask);
}

std::vector<Call> PoolVerb::forget_holders(const Session& session) const {
  return noun().forget_holders(session.name(key_));
}

int PoolVerb::finish(const Session& session, const CounterAnswer& answer) const {
  const LockName name = session.name(key_);
  return finish_counter(name, answer,
                        fmt::format("{} exists, and stays as it is; see: rlock {} status {}", quoted(name),
                                    noun().word, words_for(name)),
                        refuse_absent(name, kind()).text);
}

std::unique_ptr<Verb> pool_init_verb(PoolKind kind) { return std::make_unique<PoolInit>(kind); }
std::unique_ptr<Verb> pool_add_verb(PoolKind kind) { return std::make_unique<PoolAdd>(kind); }
std::unique_ptr<Verb> pool_status_verb(PoolKind kind) { return std::make_unique<PoolStatus>(kind); }
std::unique_ptr<Verb> pool_delete_verb(PoolKind kind) { return std::make_unique<PoolDelete>(kind); }

}  // namespace rlock
