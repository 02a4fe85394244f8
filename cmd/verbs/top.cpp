// rlock top: the facts of rlock list, live. The screen is a value (TopScreen) that strokes and inspections
// change. This file decides when to search, which keys to inspect, and what signals mean. While it waits for
// the server, it reacts to strokes.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include "base/error.h"
#include "cmd/ask/inspector.h"
#include "cmd/cli/exit_code.h"
#include "cmd/cli/full_screen.h"
#include "cmd/verbs/listing_options.h"
#include "cmd/verbs/verbs.h"
#include "cmd/view/top_screen.h"

namespace rlock {
namespace {

/// Each refresh inspects the new keys, the keys on the screen, and in turn a tenth of all keys. So a thousand keys cost
/// a server less than a fiftieth of its time.
constexpr std::size_t kTurns = 10;

/// A search in a large database takes long: the next one waits for this many times as long.
constexpr int kSearchPause = 50;

class Live {
 public:
  Live(Session& session, const ListingOptions& keys, const KeyChoice& choice, Milliseconds every)
      : session_(session), keys_(keys), terminal_(session.loop, "use rlock list") {
    screen_.server = session.servers();
    screen_.every = every;
    screen_.filter = choice.filter;
    screen_.order = choice.order;
  }

  void run() {
    session_.signals.take_stops();
    try {
      enter();
      for (;;) {
        const TimePoint next = plus(session_.now(), screen_.every);
        refresh();
        do turn(next);
        while (session_.now() < next);
      }
    } catch (const Ended&) {  // the user pressed q, a signal came, or the terminal is gone
      terminal_.leave();
    }
    session_.check_signals();
  }

 private:
  struct Ended {};

  void check_end() const {
    if (session_.signals.any() || terminal_.gone()) throw Ended{};
  }

  /// In the background the screen is invisible: then we stop ourselves, like any process that reads from the
  /// terminal.
  void enter() {
    while (::tcgetpgrp(terminal_.fd()) != ::getpgrp()) {
      const TimePoint asked = session_.now();
      session_.signals.stop(::getpid());
      if (session_.now() - asked < Milliseconds{10}) throw Ended{};  // no shell can continue us
    }
    check_end();
    terminal_.enter();
    show();
  }

  void show() {
    const ScreenSize size = terminal_.size();  // asked once, because it may change between two questions
    screen_.fit(size);
    terminal_.draw(screen_.lines(size));
  }

  /// Turns the loop once, then handles strokes and signals.
  void turn(TimePoint until) {
    check_end();  // a signal that was read before the first turn does not end a turn
    session_.loop.turn(until);
    bool changed = false;
    for (const Caught& caught : session_.signals.take()) {
      changed = changed || caught.number == SIGWINCH;
      if (caught.number != SIGTSTP) continue;
      terminal_.leave();
      session_.signals.stop(::getpid());
      enter();
    }
    check_end();
    for (const Stroke& stroke : terminal_.take_strokes()) {
      if (!screen_.press(stroke, terminal_.size())) throw Ended{};
      changed = true;
    }
    if (changed) show();
  }

  void refresh() {
    try {
      await_server();
      if (session_.now() >= next_search_) search_keys();
      inspect(due());
      screen_.trouble.clear();
    } catch (const Error& error) {  // the next look may succeed
      screen_.trouble = error.what();
    }
    std::vector<Inspection> found;
    for (const auto& [name, seen] : known_) found.push_back(seen);
    screen_.take(std::move(found));
    show();
  }

  /// Waits for a silent server here, where strokes still work.
  void await_server() {
    const TimePoint until = session_.patience().until;
    const Redis::Request request = session_.redis.post(command({"PING"}), with_retries(), until);
    const auto answered = [&] {
      return request.settled() || answered_by(session_.redis.quorum(), request.votes());
    };
    while (!answered()) turn(until);
    if (answered_by(session_.redis.quorum(), request.votes())) return;
    for (const Vote& vote : request.votes())
      if (const auto trouble = vote.trouble()) session_.fail(*trouble);
  }

  void search_keys() {
    const TimePoint begun = session_.now();
    SearchOptions options = search_options(keys_);
    options.until = plus(begun, keys_.scan_time);
    options.turn = [this](TimePoint until) { turn(until); };
    options.progress = [this](const SearchProgress& progress) {
      screen_.note = progress.text();
      if (progress.steps % 100 == 0) show();  // so that the user sees the progress among a million keys
    };
    const FoundKeys found = search(session_, options);
    screen_.note.clear();
    if (found.unread && found.names.empty()) session_.fail(*found.unread);
    if (found.cut_short == CutShort::too_many) screen_.note = "there are more keys than can be shown";
    if (found.cut_short == CutShort::late)
      screen_.note = "the search was cut short; a longer --scan-time shows more";
    names_.assign(found.names.begin(), found.names.end());
    std::erase_if(known_, [&](const auto& entry) { return !found.names.contains(entry.first); });
    next_search_ =
        plus(session_.now(), std::max(screen_.every, kSearchPause * elapsed(begun, session_.now())));
  }

  /// The keys to inspect now: new ones, those on the screen, and some of the others.
  std::vector<LockName> due() {
    std::set<LockName> due;
    for (const LockName& name : names_)
      if (!known_.contains(name)) due.insert(name);
    for (LockName& name : screen_.shown(terminal_.size()))
      if (known_.contains(name)) due.insert(std::move(name));
    for (std::size_t i = 0; i < (names_.size() + kTurns - 1) / kTurns; ++i)
      due.insert(names_[next_++ % names_.size()]);
    return {due.begin(), due.end()};
  }

  void inspect(const std::vector<LockName>& names) {
    Inspector inspector{session_, names};
    for (inspector.advance(); !inspector.over(); inspector.advance()) turn(inspector.wake_at());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Inspector::Result& result = *inspector.results()[i];
      if (!result.failure) known_.insert_or_assign(names[i], agreed(result.views.seen));
      if (result.failure && result.failure->kind != Error::denied) session_.fail(*result.failure);
    }
  }

  Session& session_;
  const ListingOptions& keys_;
  FullScreen terminal_;
  TopScreen screen_;
  std::vector<LockName> names_;  ///< the result of the last search
  std::size_t next_ = 0;         ///< index in names_ of the next key to inspect besides those on the screen
  std::map<LockName, Inspection> known_;
  TimePoint next_search_ = TimePoint::min();
};

class Top final : public Verb {
 public:
  void declare(VerbSpec& spec) override;
  int act(TimePoint started, std::vector<std::string> command) override;

 private:
  ListingOptions listing_options_;
  KeyChoice choice_;
  Milliseconds every_{1000};
};

void Top::declare(VerbSpec& spec) {
  spec.about = "Show the lines of rlock list live, on the whole terminal. Nothing changes.";
  spec.notes =
      "Keys\n"
      "  up down PgUp PgDn Home End   choose a key\n"
      "  Enter                        show all about the key, as rlock inspect\n"
      "  s                            sort by key, age or waiters\n"
      "  /                            filter by a part of a key or a pattern\n"
      "  ?  q                         show help; go back, or end\n"
      "\n";
  spec.examples = {{"rlock top", ""},
                   {"rlock top --all --every 5s 'orders:*'", "also the locks of Redisson"}};
  spec.common = "all state sort";
  declare_listing_options(spec, listing_options_);
  declare_key_choice(spec, choice_);
  spec.add({.names = "--every",
            .value = "DUR",
            .help = "look again every DUR",
            .standard = "1s",
            .set = into(every_)});
}

int Top::act(TimePoint, std::vector<std::string>) {
  Session session{server_, Session::Access::looks};
  Live{session, listing_options_, choice_, every_}.run();
  return exit_code::ok;
}

}  // namespace

VerbRows top_verbs() {
  static constexpr VerbEntry kRow{
      .name = "top",
      .summary = "show the lines of list live, on the whole terminal",
      .takes = takes::server,
      .exits = "0 done",
      .create = create<Top>,
      .errors = "64 usage (also without a terminal), 77 denied, 78 configuration"};
  return {&kRow, 1};
}

}  // namespace rlock
