#include "world.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace.h"

namespace rlock::model {
namespace {

/// How long a client waits for a reply before it abandons the connection.
constexpr std::int64_t kReplyIn = 1000;

/// A call stays in flight for at most this long, which is less than a server remembers requests
/// (src/sync/calls/requests.h).
constexpr std::int64_t kLateAtMost = 30000;

constexpr std::int64_t kReconnects = 500;
constexpr int kReleaseTries = 3;

}  // namespace

World::World(const Setting& setting, Interpreter& lua)
    : setting_(&setting),
      lua_(&lua),
      store_(kBegin),
      clients_(setting.clients.size()),
      faults_(setting.faults),
      crashes_(setting.crashes),
      losses_(setting.losses),
      failovers_(setting.failovers) {
  if (!setting.begins.empty()) store_.call(setting.begins);
  if (failovers_ > 0) replica_ = store_;
}

// --- what may happen -----------------------------------------------------------------------------

bool World::may_begin(int who) const {
  const int outer = plan(who).inside;
  return outer < 0 || (client(outer).phase == Phase::holding && sure(outer));
}

/// Must this client act now?
bool World::acts(int who) const {
  const Client& one = client(who);
  if (one.phase == Phase::idle || one.phase == Phase::done || one.phase == Phase::crashed) return false;
  return one.due <= now() || one.written != 0;
}

bool World::urgent() const {
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who)
    if (acts(who)) return true;
  return false;
}

std::int64_t World::next_time() const {
  std::int64_t next = store_.next_expiry() != 0 ? store_.next_expiry() + 1 - jumped_ : 0;
  const auto consider = [&](std::int64_t time) {
    if (time > now() && time != kEndless && (next == 0 || time < next)) next = time;
  };
  for (const Client& one : clients_)
    if (one.phase != Phase::idle && one.phase != Phase::done && one.phase != Phase::crashed)
      consider(one.due);
  for (const Abandoned& connection : abandoned_)
    if (!connection.calls.empty()) consider(connection.breaks_at);
  return next;
}

void World::add_fates(std::vector<Event>& events, Event event) const {
  events.push_back(event);
  if (faults_ == 0 || !hold(event.who).is_ours()) return;
  for (const Fate fate : {Fate::unanswered, Fate::late}) {
    event.fate = fate;
    events.push_back(event);
  }
}

std::vector<Event> World::events() const {
  using Kind = Event::Kind;
  std::vector<Event> events;
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) {
    const Client& one = client(who);
    if (one.phase == Phase::done || one.phase == Phase::crashed) continue;
    if (one.phase == Phase::idle) {
      if (may_begin(who)) add_fates(events, {Kind::call, who});
      continue;
    }
    if (one.written != 0) {
      events.push_back({Kind::confirm, who});
      continue;
    }
    const bool renews_no_more = one.phase == Phase::holding && one.renewals >= setting_->renewals;
    if (acts(who) && !renews_no_more) add_fates(events, {Kind::call, who});
    if (one.phase == Phase::holding) add_fates(events, {Kind::release, who});
    const bool waits = one.phase == Phase::asking || one.phase == Phase::sleeping;
    if (waits && setting_->gives_up) events.push_back({Kind::give_up, who});
    if (crashes_ > 0) events.push_back({Kind::crash, who});
    if (one.phase == Phase::sleeping && faults_ > 0 && hold(who).is_ours())
      events.push_back({Kind::cut, who});
  }
  for (int at = 0; at < static_cast<int>(abandoned_.size()); ++at) {
    if (abandoned_[static_cast<std::size_t>(at)].calls.empty()) continue;
    events.push_back({Kind::deliver, at});
    events.push_back({Kind::drop, at});
  }
  if (!urgent() && next_time() != 0) events.push_back({Kind::tick});
  if (setting_->jump != 0 && jumped_ == 0) events.push_back({Kind::jump});
  if (failovers_ > 0) {
    if (replicated_ < writes_) events.push_back({Kind::replicate});
    events.push_back({Kind::fail_over});
  }
  if (losses_ > 0)
    for (int key = 0; key <= static_cast<int>(store_.keys().size()); ++key)
      events.push_back({Kind::vanish, key});
  return events;
}

bool World::at_rest() const {
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) {
    const Phase phase = client(who).phase;
    const bool ended =
        phase == Phase::done || phase == Phase::crashed || (phase == Phase::idle && !may_begin(who));
    if (!ended) return false;
  }
  return std::ranges::all_of(abandoned_, [](const Abandoned& one) { return one.calls.empty(); });
}

// --- what happens ----------------------------------------------------------------------------------

std::optional<std::string> World::apply(const Event& event, std::vector<std::string>* trace) {
  using Kind = Event::Kind;
  trace_ = trace;
  remember_ttls();
  if (event.fate != Fate::answered || event.kind == Kind::cut) --faults_;
  switch (event.kind) {
    case Kind::call: act(event.who, event.fate); break;
    case Kind::release:
      client(event.who).phase = Phase::releasing;
      client(event.who).tries = 0;
      store_.stop_listening(event.who);  // UNSUBSCRIBE goes before the release
      release(event.who, event.fate);
      break;
    case Kind::give_up: give_up(event.who); break;
    case Kind::crash: crash(event.who); break;
    case Kind::cut:
      note(fmt::format("# {}'s connection for messages breaks", plan(event.who).name));
      store_.stop_listening(event.who);
      client(event.who).due = std::min(client(event.who).due, now() + kReconnects);
      break;
    case Kind::deliver: deliver(event.who); break;
    case Kind::drop:
      note(fmt::format("# an abandoned connection of {} breaks",
                       plan(abandoned_[static_cast<std::size_t>(event.who)].client).name));
      excused_ = true;
      abandoned_.erase(abandoned_.begin() + event.who);
      break;
    case Kind::tick: tick(); break;
    case Kind::jump: jump(); break;
    case Kind::vanish: vanish(event.who); break;
    case Kind::replicate:
      note("# the replica has what was written until now");
      replica_ = store_;
      replicated_ = writes_;
      break;
    case Kind::confirm: confirm(event.who); break;
    case Kind::fail_over: fail_over(); break;
  }
  hand_out_messages();
  judge();
  trace_ = nullptr;
  return std::exchange(wrong_, std::nullopt);
}

void World::note(const std::string& line) {
  if (trace_ != nullptr) trace_->push_back(line);
}

Reply World::execute(int who, const Call& call, const char* what) {
  const bool had_it = plan(who).newest && is_written(who);
  Reply reply = lua_->run(call, store_);
  ++writes_;
  const bool removed =
      std::string_view{call.script->name}.ends_with("/force") && reply.at(0).text() == "removed";
  if (removed) rob_holders();
  excused_ =
      excused_ || (removed && plan(who).type == "read");  // the readers' own keys expire with their leases
  if (plan(who).newest) judge_newest(who, call, reply, had_it);
  unmended_ = false;
  if (trace_ != nullptr)
    note(fmt::format("{}  # {}: {} -> {}", command_line(call), plan(who).name, what, written(reply)));
  if (reply.is_error()) blame(fmt::format("{} fails: {}", call.script->name, reply.text()));
  return reply;
}

/// Sends the calls and returns the replies. If the result is empty, the client got no reply, and has abandoned the
/// connection.
std::vector<Reply> World::send(int who, const std::vector<Call>& calls, const char* what, Fate fate) {
  std::vector<Reply> replies;
  Abandoned connection{.client = who, .breaks_at = now() + kLateAtMost, .calls = {}};
  for (const Call& call : calls) {
    if (fate == Fate::late) {
      connection.calls.push_back({std::make_shared<Call>(call), what});
    } else {
      replies.push_back(execute(who, call, what));
    }
  }
  if (fate == Fate::answered) return replies;
  note(fmt::format("# {}: {}, {}", plan(who).name, what,
                   fate == Fate::late ? "which stays on its way" : "whose reply is lost"));
  abandoned_.push_back(std::move(connection));
  return {};
}

void World::send_on_abandoned(int who, const std::vector<Call>& calls, const char* what) {
  for (Abandoned& connection : abandoned_) {
    if (connection.client != who) continue;
    for (const Call& call : calls) connection.calls.push_back({std::make_shared<Call>(call), what});
  }
}

void World::act(int who, Fate fate) {
  switch (client(who).phase) {
    case Phase::idle: client(who).begun = now(); [[fallthrough]];
    case Phase::asking:
    case Phase::sleeping: return ask(who, fate);
    case Phase::confirming: return confirm(who);
    case Phase::holding: return renew(who, fate);
    case Phase::releasing: return release(who, fate);
    case Phase::following: return follow(who, fate);
    case Phase::undoing: return undo(who, fate);
    case Phase::done:
    case Phase::crashed: return;
  }
}

/// Like HoldWait::arrive().
void World::arrive(int who, Fate fate) {
  Client& one = client(who);
  one.phase = Phase::asking;
  const auto replies = send(who, {*hold(who).arrive()}, "arrive", fate);
  one.due = replies.empty() ? now() + kReplyIn : now();
  if (replies.empty()) return;
  one.ticket = hold(who).ticket_in(replies.front());
  newest_told_ = std::max(newest_told_, one.ticket);
}

/// Like Wait::run() and Round::ask().
void World::ask(int who, Fate fate) {
  Client& one = client(who);
  if (plan(who).newest && one.ticket == 0) return arrive(who, fate);
  one.phase = Phase::asking;
  one.asked_once = true;
  const std::int64_t now = this->now();
  const auto replies = send(who, {hold(who).ask_with(one.ticket, now - one.begun)}, "acquire", fate);
  if (replies.empty()) {
    one.late_asks = true;
    one.due = now + kReplyIn;
    return;
  }
  const Asked asked = hold(who).read(replies.front());
  if (asked.how == Asked::How::busy) {
    one.busy = asked.busy;
    if (one.arrived == 0) one.arrived = ++arrivals_;
    return sleep(who);
  }
  if (asked.how == Asked::How::superseded) {
    if (newest_drawn_ <= one.ticket) blame(fmt::format("{} is superseded by nobody", plan(who).name));
    return give_up(who);
  }
  if (asked.how != Asked::How::held) {
    const int outer = plan(who).inside;
    if (outer < 0 || sure(outer)) blame(fmt::format("{} is refused, for no reason", plan(who).name));
    return give_up(who);
  }
  if (hold(who).ends() == Ends::at_once) return end_hold(who);
  one.asked = now;
  one.held_since = store_.now();
  one.fences = asked.fences;
  judge_order(who);
  if (!plan(who).strict) return begin_hold(who);
  one.phase = Phase::confirming;
  one.renewed_at = now;
  one.written = writes_;
}

/// Like Round::await_replicas_of() and Keeper: the server says whether the replica has the write. If it does not, a granted
/// acquire is undone, and a renewal is retried soon.
void World::confirm(int who) {
  Client& one = client(who);
  const bool confirmed = one.written <= replicated_;
  one.written = 0;
  note(fmt::format("# {}: {} replica has it", plan(who).name, confirmed ? "the" : "no"));
  one.late_asks =
      one.late_asks || (one.phase == Phase::confirming && !confirmed);  // its acquire must be undone
  if (one.phase == Phase::confirming) return confirmed ? begin_hold(who) : give_up(who);
  if (one.phase != Phase::holding) return;
  if (confirmed) one.asked = one.renewed_at;
  one.due = confirmed ? one.asked + plan(who).lease / 3 : now() + plan(who).lease / 12;
}

void World::begin_hold(int who) {
  Client& one = client(who);
  judge_fences(who, one.fences);
  one.phase = Phase::holding;
  one.due = hold(who).ends() == Ends::by_release ? kEndless : one.asked + plan(who).lease / 3;
  one.busy.reset();
  if (!hold(who).listens_while_held()) store_.stop_listening(who);
  for (const Place& place : hold(who).places())
    if (kept_until_[place.key] > store_.now() && plan(who).inside < 0)
      blame(fmt::format("{} gets '{}', which is kept", plan(who).name, place.key));
}

void World::sleep(int who) {
  Client& one = client(who);
  one.phase = Phase::sleeping;
  one.woken = false;
  one.due = now() + hold(who).sleeps(*one.busy);
  listen(who);
}

/// Each new subscription is confirmed by a message without text.
void World::listen(int who) {
  const auto channels = hold(who).channels(*client(who).busy);
  std::vector<std::string> fresh;
  for (const std::string& channel : channels)
    if (!store_.listens(who, channel)) fresh.push_back(channel);
  store_.stop_listening(who);
  for (const std::string& channel : channels) store_.listen(who, channel);
  for (const std::string& channel : fresh) hear(who, channel, std::nullopt);
}

void World::hear(int who, const std::string& channel, const std::optional<std::string>& text) {
  Client& one = client(who);
  if (one.phase != Phase::sleeping) return;
  const Heard heard = hold(who).hear(channel, text, *one.busy);
  if (heard.moved && !one.woken) sleep(who);  // otherwise it asks soon, whatever its place
  if (!heard.ask_after) return;
  one.woken = true;
  const std::int64_t at = now() + *heard.ask_after;
  one.due = heard.not_before ? at : std::min(one.due, at);
}

void World::hand_out_messages() {
  for (const Delivery& message : store_.take_deliveries()) {
    if (!store_.listens(message.client, message.channel)) continue;
    note(fmt::format("# {} hears '{}' on {}", plan(message.client).name, message.text, message.channel));
    hear(message.client, message.channel, message.text);
  }
}

/// Like Keeper: an unanswered renewal is soon tried again.
void World::renew(int who, Fate fate) {
  Client& one = client(who);
  const std::int64_t now = this->now();
  ++one.renewals;
  const auto replies = send(who, hold(who).renew(), "renew", fate);
  one.due = now + (replies.empty() ? plan(who).lease / 12 : plan(who).lease / 3);
  if (replies.empty()) return;
  for (std::size_t part = 0; part < replies.size(); ++part) {
    if (hold(who).renewed(part, replies[part])) continue;
    if (sure(who))
      blame(fmt::format("{} is told that it does not hold any more, though its lease has not ended",
                        plan(who).name));
    one.lost = true;
    one.phase = Phase::releasing;
    one.due = now;
    return;
  }
  if (plan(who).strict) {
    one.renewed_at = now;
    one.written = writes_;
  } else {
    one.asked = now;
  }
}

std::int64_t World::keep_until(int who) const {
  return plan(who).min_hold == 0 ? 0 : client(who).held_since + plan(who).min_hold;
}

/// Like release(): for each key, again until it is answered. Then come the second calls of some answers.
void World::release(int who, Fate fate) {
  Client& one = client(who);
  const bool first = one.tries == 0;
  const auto replies = send(who, hold(who).release(keep_until(who)), "release", fate);
  if (replies.empty()) {
    one.due = now() + kReplyIn;
    if (++one.tries == kReleaseTries) {
      excused_ = true;
      finish_release(who);
    }
    return;
  }
  for (std::size_t part = 0; part < replies.size(); ++part) {
    Freed freed = hold(who).freed(part, replies[part]);
    if (freed.how == Freed::How::not_ours && first && sure(who))
      blame(fmt::format("{} is told that it did not hold what it releases", plan(who).name));
    // If a late acquire arrives after the inner holds have ended, too, the server cannot tell that it is late. Then
    // only its lease ends the hold.
    if (freed.how == Freed::How::still_held && one.late_asks) excused_ = true;
    // If inner holds outlive this one, the last of them keeps the key.
    const bool stays = freed.how == Freed::How::kept || freed.how == Freed::How::still_held;
    if (stays && keep_until(who) > store_.now() && !one.robbed)
      kept_until_[hold(who).places()[part].key] = keep_until(who);
    if (freed.then) one.then.push_back(std::make_shared<Call>(*std::move(freed.then)));
  }
  one.tries = 0;
  if (one.then.empty()) return finish_release(who);
  one.phase = Phase::following;
  one.due = now();
}

void World::follow(int who, Fate fate) {
  Client& one = client(who);
  std::vector<Call> calls;
  for (const auto& call : one.then) calls.push_back(*call);
  const bool answered = !send(who, calls, "release, second call", fate).empty();
  one.due = now() + kReplyIn;
  if (!answered && ++one.tries < kReleaseTries) return;
  excused_ = excused_ || !answered;
  finish_release(who);
}

void World::finish_release(int who) {
  send_on_abandoned(who, hold(who).release(keep_until(who)), "release");
  end_hold(who);
}

/// Like Acquisition::give_up() in src/sync/wait/acquire.cpp.
void World::give_up(int who) {
  Client& one = client(who);
  note(fmt::format("# {} gives up", plan(who).name));
  one.phase = Phase::undoing;
  one.tries = 0;
  one.due = now();
  const bool nothing_to_undo = !one.late_asks && !hold(who).takes_place();
  const auto calls = hold(who).undo();
  if (nothing_to_undo || calls.empty()) return end_hold(who);
  if (one.late_asks) send_on_abandoned(who, calls, "undo");
}

void World::undo(int who, Fate fate) {
  if (send(who, hold(who).undo(), "undo", fate).empty()) {  // rlock ends soon, with or without an answer
    excused_ = true;
    waiter_died_ = true;  // as after a kill: another process sends the undo, which may take long
  }
  end_hold(who);
}

/// Ends the client's process. The next hold of its plan belongs to a new process.
void World::end_hold(int who) {
  store_.stop_listening(who);
  std::erase_if(abandoned_, [&](const Abandoned& one) { return one.client == who && one.calls.empty(); });
  const std::size_t next = client(who).hold + 1;
  const bool last = next == plan(who).holds.size();
  client(who) = {.phase = last ? Phase::done : Phase::idle, .hold = last ? next - 1 : next};
}

void World::crash(int who) {
  note(fmt::format("# {} is killed", plan(who).name));
  --crashes_;
  excused_ = true;
  const Phase phase = client(who).phase;
  const bool waits = phase == Phase::asking || phase == Phase::sleeping || phase == Phase::undoing;
  waiter_died_ = waiter_died_ || waits;
  store_.stop_listening(who);
  std::erase_if(abandoned_, [&](const Abandoned& one) { return one.client == who && one.calls.empty(); });
  client(who) = {.phase = Phase::crashed, .hold = client(who).hold};
}

void World::deliver(int connection) {
  Abandoned& late = abandoned_[static_cast<std::size_t>(connection)];
  const int who = late.client;
  const Late first = late.calls.front();
  late.calls.erase(late.calls.begin());
  execute(who, *first.call, fmt::format("{}, late", first.what).c_str());
  const Phase phase = client(who).phase;
  if (late.calls.empty() && (phase == Phase::done || phase == Phase::crashed || phase == Phase::idle))
    abandoned_.erase(abandoned_.begin() + connection);
}

void World::tick() {
  const std::int64_t next = next_time();
  note(fmt::format("sleep {}", static_cast<double>(next - now()) / 1000));
  store_.advance_to(next + jumped_);
  std::erase_if(abandoned_, [&](const Abandoned& one) {
    if (one.calls.empty() || one.breaks_at > next) return false;
    excused_ = true;
    return true;
  });
}

void World::jump() {
  jumped_ = setting_->jump;
  note(fmt::format("# the server's clock jumps by {} s", jumped_ / 1000));
  store_.advance_to(store_.now() + jumped_);
  if (jumped_ > 0) rob_holders();  // their leases end sooner than the server had said
}

/// A key is deleted by hand, by eviction, or with the server's memory.
void World::vanish(int key) {
  --losses_;
  const std::vector<std::string> keys = store_.keys();
  const bool one = key < static_cast<int>(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!one || static_cast<int>(i) == key) store_.call({"del", keys[i]});
  note(one ? fmt::format("$REDIS del '{}'", keys[static_cast<std::size_t>(key)]) : "$REDIS flushall");
  unmended_ = excused_ = true;
  last_fence_.clear();
  newest_told_ = 0;
  rob_holders();
}

/// The replica takes the server's place, with the writes that it has got so far, and every connection breaks.
/// An owner with a confirmed replica keeps its lock.
void World::fail_over() {
  --failovers_;
  note("# the replica takes the place of the server");
  const std::int64_t servers_now = store_.now();
  store_ = *std::exchange(replica_, std::nullopt);
  store_.advance_to(servers_now);
  abandoned_.clear();
  excused_ = true;
  for (int who = 0; who < static_cast<int>(clients_.size()); ++who) {
    Client& one = client(who);
    store_.stop_listening(who);
    if (one.written != 0) one.written = kEndless;  // no server will confirm the write any more
    if (one.phase == Phase::sleeping) one.due = std::min(one.due, now() + kReconnects);
    const bool holds = one.phase == Phase::holding || one.phase == Phase::releasing;
    one.robbed = one.robbed || (holds && !plan(who).strict);
  }
  const bool all_strict = std::ranges::all_of(setting_->clients, &ClientPlan::strict);
  if (!all_strict) last_fence_.clear();
}

void World::rob_holders() {
  for (Client& one : clients_)
    one.robbed = one.robbed || one.phase == Phase::holding || one.phase == Phase::releasing;
  kept_until_.clear();
}

}  // namespace rlock::model
