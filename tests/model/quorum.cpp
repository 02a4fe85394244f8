#include "quorum.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "numbers.h"
#include "trace.h"

namespace rlock::model {
namespace {

const char* text_of(int what) {
  constexpr const char* kWords[] = {"acquire", "undo", "release"};
  return kWords[what];
}

}  // namespace

Quorum::Quorum(const Setting& setting, Interpreter& lua)
    : setting_(&setting),
      lua_(&lua),
      stores_(static_cast<std::size_t>(setting.nodes), Store{kBegin}),
      contenders_(setting.clients.size()),
      faults_(setting.faults) {
  for (Contender& one : contenders_) one.links.resize(static_cast<std::size_t>(nodes()));
}

const Hold& Quorum::hold(int who) const { return *plan(who).holds[contender(who).identity]; }

int Quorum::votes(int who, Link::Vote vote) const {
  return static_cast<int>(std::ranges::count(contender(who).links, vote, &Link::vote));
}

// --- what may happen -----------------------------------------------------------------------------

std::vector<Event> Quorum::events() const {
  using Kind = Event::Kind;
  using State = Contender::State;
  std::vector<Event> events;
  for (int who = 0; who < static_cast<int>(contenders_.size()); ++who) {
    const State state = contender(who).state;
    if (state == State::idle || state == State::between) events.push_back({Kind::call, who});
    if (state == State::holding) events.push_back({Kind::release, who});
    // The contender stops waiting for silent nodes.
    const bool possible = votes(who, Link::Vote::granted) + votes(who, Link::Vote::open) >= quorum();
    if (state == State::asking && (!possible || faults_ > 0)) events.push_back({Kind::give_up, who});
  }
  for (int at = 0; at < static_cast<int>(contenders_.size()) * nodes(); ++at) {
    const Link& one = link(at);
    if (!one.abandoned.empty()) events.push_back({Kind::drop, at});
    if (!one.again.empty()) events.push_back({Kind::tick, at});
    if (one.wire.empty()) continue;
    events.push_back({Kind::deliver, at});
    if (faults_ == 0) continue;
    events.push_back({Kind::deliver, at, Event::Fate::unanswered});
    events.push_back({Kind::deliver, at, Event::Fate::late});
    events.push_back({Kind::cut, at});
  }
  return events;
}

bool Quorum::at_rest() const {
  for (const Contender& one : contenders_) {
    if (one.state != Contender::State::done) return false;
    for (const Link& link : one.links)
      if (!link.wire.empty() || !link.again.empty() || !link.abandoned.empty()) return false;
  }
  return true;
}

// --- what happens ----------------------------------------------------------------------------------

std::optional<std::string> Quorum::apply(const Event& event, std::vector<std::string>* trace) {
  using Kind = Event::Kind;
  trace_ = trace;
  switch (event.kind) {
    case Kind::call: ask(event.who); break;
    case Kind::release: release(event.who); break;
    case Kind::give_up:
      if (votes(event.who, Link::Vote::granted) + votes(event.who, Link::Vote::open) >= quorum()) --faults_;
      undo_round(event.who);
      break;
    case Kind::deliver:
      if (event.fate != Event::Fate::answered) --faults_;
      deliver(event.who, event.fate);
      break;
    case Kind::drop: deliver_abandoned(event.who); break;
    case Kind::cut:
      --faults_;
      abandon(event.who);
      break;
    case Kind::tick:  // sends a call again that the server could not carry out
      link(event.who).wire.push_back(std::move(link(event.who).again.front()));
      link(event.who).again.pop_front();
      break;
    case Kind::crash:
    case Kind::jump:
    case Kind::vanish:
    case Kind::replicate:
    case Kind::confirm:
    case Kind::fail_over: break;  // these do not happen here
  }
  judge();
  trace_ = nullptr;
  return std::exchange(wrong_, std::nullopt);
}

/// Like Round::ask() and Attempts::may_not_follow(), this gives no new call to a node that has not answered the earlier
/// ones. A contender that keeps its owner asks a node only after that node has answered its undo.
void Quorum::ask(int who) {
  Contender& one = contender(who);
  one.state = Contender::State::asking;
  ++one.round;
  const Call call = hold(who).ask(0);
  for (Link& link : one.links) {
    const bool closed = plan(who).stays && link.undos > 0;
    link.vote = closed || !link.wire.empty() ? Link::Vote::failed : Link::Vote::open;
    if (link.vote == Link::Vote::failed) continue;
    link.reached = true;
    link.wire.push_back({Sent::What::acquire, one.round, std::make_shared<Call>(call)});
  }
  note(fmt::format("# {} asks", plan(who).name));
  decide(who);
}

/// Sends the call behind those in flight, and also on abandoned connections.
void Quorum::post(int who, Sent::What what, const Call& call, bool only_reached) {
  const Sent sent{what, contender(who).round, std::make_shared<Call>(call)};
  for (Link& link : contender(who).links) {
    if (only_reached && !link.reached) continue;
    if (!link.abandoned.empty()) link.abandoned.push_back(sent);
    link.wire.push_back(sent);
    if (what == Sent::What::undo) ++link.undos;
  }
}

/// Like Acquisition::undo_round() in src/sync/wait/acquire.cpp and, after the last round, Acquisition::give_up().
void Quorum::undo_round(int who) {
  Contender& one = contender(who);
  const bool nothing =
      votes(who, Link::Vote::granted) + votes(who, Link::Vote::open) + votes(who, Link::Vote::failed) == 0;
  one.state = one.round < plan(who).holds.size() ? Contender::State::between : Contender::State::done;
  note(fmt::format("# {} does not get it", plan(who).name));
  if (!nothing) {
    for (const Call& call : hold(who).undo()) post(who, Sent::What::undo, call, true);
    for (Link& link : one.links) link.reached = false;
    one.identity = std::min(one.identity + 1, plan(who).holds.size() - 1);
  }
  for (Link& link : one.links) link.vote = Link::Vote::none;
}

/// Like Ballot: the round is decided if a quorum has granted, or all have answered.
void Quorum::decide(int who) {
  Contender& one = contender(who);
  if (votes(who, Link::Vote::granted) >= quorum()) {
    one.state = Contender::State::holding;
    note(fmt::format("# {} holds it", plan(who).name));
  } else if (votes(who, Link::Vote::open) == 0) {
    undo_round(who);
  }
}

/// The contender releases. It is done at once, without regard to the answers.
void Quorum::release(int who) {
  note(fmt::format("# {} releases", plan(who).name));
  for (const Call& call : hold(who).release(0)) post(who, Sent::What::release, call, false);
  contender(who).state = Contender::State::done;
}

Reply Quorum::execute(int at, const Sent& sent, const char* how) {
  Reply reply = lua_->run(*sent.call, stores_[static_cast<std::size_t>(at % nodes())]);
  note(fmt::format("REDIS=$REDIS{} {}  # {}: {} {}{} -> {}", at % nodes() + 1, command_line(*sent.call),
                   plan(at / nodes()).name, text_of(static_cast<int>(sent.what)), sent.round, how,
                   written(reply)));
  if (reply.is_error()) blame(fmt::format("{} fails: {}", sent.call->script->name, reply.text()));
  return reply;
}

/// Carries out the first call in flight. `late`: the server is too busy to carry it out. `unanswered`: it is carried
/// out, but the reply is lost. In both cases an acquire has failed, and an undo or a release is sent again.
void Quorum::deliver(int at, Event::Fate fate) {
  Link& one = link(at);
  const Sent sent = one.wire.front();
  one.wire.pop_front();
  std::optional<Reply> reply;
  if (fate != Event::Fate::late) {
    reply = execute(at, sent, fate == Event::Fate::unanswered ? ", the answer is lost" : "");
  } else {
    note(fmt::format("# {}: {} {} to server {} is answered BUSY", plan(at / nodes()).name,
                     text_of(static_cast<int>(sent.what)), sent.round, at % nodes() + 1));
  }
  if (fate == Event::Fate::answered) return answered(at, sent, &*reply);
  if (sent.what != Sent::What::acquire) return one.again.push_back(sent);
  answered(at, sent, nullptr);
}

void Quorum::deliver_abandoned(int at) {
  const Sent sent = link(at).abandoned.front();
  link(at).abandoned.pop_front();
  execute(at, sent, ", late");
}

/// The server was silent for too long, so a new connection replaces the old one. Calls in flight may still arrive.
void Quorum::abandon(int at) {
  Link& one = link(at);
  note(fmt::format("# {} abandons its connection to server {}", plan(at / nodes()).name, at % nodes() + 1));
  const std::deque<Sent> before = std::exchange(one.wire, {});
  for (const Sent& sent : before) {
    one.abandoned.push_back(sent);
    if (sent.what != Sent::What::acquire) one.again.push_back(sent);
  }
  for (const Sent& sent : before)
    if (sent.what == Sent::What::acquire) answered(at, sent, nullptr);
}

void Quorum::answered(int at, const Sent& sent, const Reply* reply) {
  const int who = at / nodes();
  Link& one = link(at);
  if (sent.what == Sent::What::undo) --one.undos;
  const bool awaited = sent.what == Sent::What::acquire && sent.round == contender(who).round &&
                       contender(who).state == Contender::State::asking;
  if (!awaited) return;
  one.vote = Link::Vote::failed;
  if (reply != nullptr) {
    const Asked asked = hold(who).read(*reply);
    if (asked.how == Asked::How::held) one.vote = Link::Vote::granted;
    if (asked.how == Asked::How::busy) one.vote = Link::Vote::busy;
    if (asked.how == Asked::How::refused) blame(fmt::format("{} is refused, for no reason", plan(who).name));
  }
  decide(who);
}

void Quorum::note(const std::string& line) {
  if (trace_ != nullptr) trace_->push_back(line);
}

// --- what must be true -------------------------------------------------------------------------------

void Quorum::blame(const std::string& what) {
  if (!wrong_) wrong_ = what;
}

bool Quorum::is_held_at(std::size_t node, int who) const {
  const Place place = hold(who).places().front();
  Store& store = stores_[node];
  const std::string type = store.call({"type", place.key}).text();
  if (type == "string") return store.call({"get", place.key}).text() == place.member;
  return type == "hash" && store.call({"hexists", place.key, place.member}).integer() == 1;
}

/// A holder has the lock at a quorum of nodes, so no other client has.
void Quorum::judge() {
  for (int who = 0; who < static_cast<int>(contenders_.size()); ++who) {
    if (contender(who).state != Contender::State::holding) continue;
    int there = 0;
    for (std::size_t node = 0; node < stores_.size(); ++node) there += is_held_at(node, who) ? 1 : 0;
    if (there < quorum())
      blame(fmt::format("{} holds it, but it stands at {} of {} servers", plan(who).name, there, nodes()));
    for (int other = 0; other < who; ++other) {
      const bool both_read = plan(who).type == "read" && plan(other).type == "read";
      if (contender(other).state == Contender::State::holding && !both_read)
        blame(fmt::format("{} and {} hold it at once", plan(other).name, plan(who).name));
    }
  }
  if (at_rest()) judge_rest();
}

/// Only the memory of requests and counters are left.
void Quorum::judge_rest() {
  for (const Store& store : stores_)
    for (const std::string& key : store.keys())
      if (!key.starts_with("redisson_lock_token:") && !key.starts_with("redisson_unlock_latch:"))
        blame(fmt::format("all are done, and '{}' is left", key));
}

std::string Quorum::describe() const {
  const auto add = [](std::string& text, const std::deque<Sent>& calls) {
    for (const Sent& sent : calls)
      text += fmt::format("{}{} ", text_of(static_cast<int>(sent.what)), sent.round);
    text += '|';
  };
  std::vector<std::string> all;
  for (std::size_t node = 0; node < stores_.size(); ++node) {
    std::string text;
    stores_[node].describe(text);
    for (const Contender& one : contenders_) {
      const Link& link = one.links[node];
      text += fmt::format("{} {} {} ", static_cast<int>(link.vote), link.reached, link.undos);
      add(text, link.wire);
      add(text, link.again);
      add(text, link.abandoned);
    }
    all.push_back(std::move(text));
  }
  std::ranges::sort(all);
  std::string text;
  for (const std::string& one : all) text += one + '\n';
  for (const Contender& one : contenders_)
    text += fmt::format("{} {} {} ", static_cast<int>(one.state), one.round, one.identity);
  return text + std::to_string(faults_);
}

}  // namespace rlock::model
