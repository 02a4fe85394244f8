// Follows the primary that the Sentinels name. Its states:
//
//   resting     There is no primary. After the pause of the Backoff, the next call or a wanted channel starts
//               a search.
//   searching   PrimarySearch asks one Sentinel after the other.
//   checking    A server was named. It is asked for its ROLE, because a Sentinel may be outdated.
//   confirming  What the Sentinels said is so old that the server may have been replaced since. They are asked
//               once more before any call is sent.
//   leading     Calls are sent to the primary. If the last answer of the Sentinels is half a second old, a call asks
//               them again (asks_again_). The state then becomes `confirming` for a while.
//
// A primary may hang for a while, or be cut off together with us, and the Sentinels choose another one. The old
// primary still answers, and what it grants is lost. Neither the server nor its connection shows this. So the
// Sentinels are asked again and again while calls are made, and a call waits for their answer (confirmation.h).

#include "redis/route/sentinel.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace rlock {
namespace {

/// At most this many retired links are kept for send_on_abandoned().
constexpr std::size_t kMostRetired = 4;

}  // namespace

Sentinel::Sentinel(Loop& loop, const Target& target, const Timeouts& timeouts)
    : loop_(loop),
      target_(target),
      tls_(tls_context(target.tls)),
      timeouts_(timeouts),
      search_(loop, target, tls_, timeouts) {}

/// First takes in what has been read. Then starts a search or a question, if one is due. The state after that
/// is the answer: only `leading` gives a connection, and only `resting` gives a reason.
Route::Choice Sentinel::connection_for(std::string_view, TimePoint now) {
  advance(now);
  // Before the next attempt, report why the last one failed, because the caller may stop before the next one
  // ends.
  if (state_ == State::resting && std::exchange(failure_is_news_, false)) return *failure_;
  if (state_ == State::resting && backoff_.due(now)) search(now);
  // No timer does this, because without calls to Redis the Sentinels need not be asked.
  if (state_ == State::leading && now >= confirmation_.ask_again_at()) begin_to_confirm(now);
  if (state_ == State::leading && asks_again_)
    if (const auto until = confirmation_.hold_back(now)) confirm(*until);
  if (connecting()) return NotYet{};
  if (state_ == State::resting) return *failure_;
  return link_->find(checked_);
}

/// Is there a working connection to the primary?
bool Sentinel::leads() const {
  Connection* connection = link_ ? link_->find(checked_) : nullptr;
  return connection != nullptr && !connection->failure();
}

/// Begins from nothing: the primary and its link are given up.
void Sentinel::search(TimePoint now) {
  retire(now);
  backoff_.began(now);
  failure_.reset();
  asks_again_ = false;
  state_ = State::searching;
  confirmation_.asked(now);
  search_.begin(now);
  advance(now);
}

/// Goes on as far as possible without waiting. The order is that of the states. In one turn, a confirmation may name
/// another primary, follow_search() takes this one, and check() connects to it.
void Sentinel::advance(TimePoint now) {
  if ((state_ == State::leading || state_ == State::confirming) && !leads()) {
    const Connection* broken = link_->find(checked_);
    Failure why = broken != nullptr ? *broken->failure() : connection_broke();
    fail(of_server(primary_text(), std::move(why)), now);
  }
  if (asks_again_) take_confirmation(now);
  if (state_ == State::confirming && now >= confirm_until_) lead();
  if (state_ == State::searching) follow_search(now);
  if (state_ == State::checking) check(now);
}

/// Asks the Sentinels, while the state stays what it is.
void Sentinel::begin_to_confirm(TimePoint now) {
  if (std::exchange(asks_again_, true)) return;
  confirmation_.asked(now);
  search_.begin(now);
}

/// Calls wait until the Sentinels have answered, or until this time.
void Sentinel::confirm(TimePoint until) {
  state_ = State::confirming;
  confirm_until_ = until;
}

/// Do the Sentinels name another primary now? If no Sentinel answers, we keep ours.
void Sentinel::take_confirmation(TimePoint now) {
  search_.advance(now);
  if (!search_.found() && !search_.failure()) return;
  asks_again_ = false;
  if (search_.failure() || *search_.found() == link_->address()) {
    // While we wait for its role, the server may be frozen, and be replaced before it answers.
    if (search_.found() && state_ != State::checking) confirmation_.confirmed();
    if (state_ == State::confirming) lead();
    return;
  }
  retire(now);
  state_ = State::searching;  // the search has found the new primary: follow_search() takes it
}

/// Takes the server that the search has found. It gets no call before check() has seen its role.
void Sentinel::follow_search(TimePoint now) {
  search_.advance(now);
  if (search_.failure()) return fail(*search_.failure(), now);
  if (!search_.found()) return;
  contacted_ = true;  // a Sentinel has answered, so a failover may be in progress
  link_ = std::make_unique<Link>(loop_, target_, tls_, *search_.found(), timeouts_);
  state_ = State::checking;
  checked_ = ConnectionNumber::none;
  check_ends_ = plus(now, timeouts_.connect + timeouts_.command);
  confirmation_.confirmed();
}

/// Asks the named server for its role.
void Sentinel::check(TimePoint now) {
  // The link would connect once more, and the call would end before it learns the reason.
  const Connection* asked = link_->find(checked_);
  if (asked != nullptr && asked->failure() && asked->wants_resp2() == Connection::Resp2::no)
    return reject_primary(of_server(primary_text(), *asked->failure()), now);
  Connection* connection = link_->connection(now);
  if (connection == nullptr)
    return reject_primary(of_server(primary_text(), link_->failure().value_or(no_answer())), now);
  if (connection->number() != checked_) {  // on a new connection, the old reply may be another server's
    checked_ = connection->number();
    role_ = connection->send(with_large_reply(command({"ROLE"})));
  }
  if (!role_->reply) {
    if (now >= confirmation_.ask_again_at()) begin_to_confirm(now);
    if (now < check_ends_) return;
    return reject_primary({Error::unreachable, primary_text() + ", does not answer"}, now);
  }
  const Reply& role = *role_->reply;
  // If an ACL forbids ROLE, a write will find out by READONLY.
  const bool replica = role.kind() == Reply::Kind::array &&
                       !(role.at(0).kind() == Reply::Kind::text && role.at(0).text() == "master");
  if (replica) {
    return reject_primary(
        {Error::unreachable,
         fmt::format("Sentinel names {} as the primary of {}, but it is a replica: the failover is not over",
                     link_->address().str(), in_quotes(target_.master))},
        now);
  }
  if (!confirmation_.is_outdated(now)) return lead();
  confirm(kNever);  // it may have been replaced before it answered
  asks_again_ = false;
  begin_to_confirm(now);
}

/// The named server said that it is a primary, and the Sentinels named it a moment ago. Calls go to it from
/// now on.
void Sentinel::lead() {
  state_ = State::leading;
  if (const Address& primary = link_->address(); primary != primary_) {
    if (!primary_.host.empty()) debug(fmt::format("failed over to {}", primary.str()));
    primary_ = primary;
  }
  for (const Channel& channel : watched_) link_->watch({.channel = channel});
}

/// The named server is no primary, or not there. Another Sentinel may know better.
void Sentinel::reject_primary(Failure why, TimePoint now) {
  const Address rejected = link_->address();
  retire(now);
  asks_again_ = false;
  // Every server refuses a wrong password, so the search ends.
  if (why.kind != Error::unreachable) return fail(std::move(why), now);
  state_ = State::searching;
  search_.disbelieve(rejected, std::move(why), now);
  advance(now);
}

/// No primary is known. Calls get this reason, and the next search waits for the Backoff.
void Sentinel::fail(Failure why, TimePoint now) {
  retire(now);
  asks_again_ = false;
  state_ = State::resting;
  failure_ = std::move(why);
  failure_is_news_ = true;
  backoff_.ended(now);
}

/// Gives up the link to the primary. If one of its connections was abandoned, the link stays in retired_. A silent
/// server may still carry out what it has been sent, so send_on_abandoned() writes the undo behind it.
void Sentinel::retire(TimePoint now) {
  if (!link_) return;
  old_wakeups_ += link_->wakeups();  // the sums must never shrink
  link_->retire(now);
  old_losses_ += link_->losses();
  std::unique_ptr<Link> link = std::move(link_);
  if (!link->has_abandoned()) return;
  retired_.push_back(std::move(link));
  if (retired_.size() > kMostRetired) retired_.erase(retired_.begin());
}

std::vector<Message> Sentinel::take_messages() {
  return link_ ? link_->take_messages() : std::vector<Message>{};
}

/// After READONLY our primary is a replica: it has written nothing, so the call may be sent again to the next
/// primary.
Route::Verdict Sentinel::judge(ConnectionNumber connection, const Reply& error, std::string_view,
                               TimePoint now) {
  if (error.is_error("READONLY")) {
    if (find(connection) != nullptr)
      fail({Error::unreachable, primary_text() + ", has become a replica"}, now);
    return Verdict::later;
  }
  return is_passing(error) ? Verdict::later : Verdict::deliver;
}

std::set<std::string> Sentinel::run_ids() const {
  if (!link_) return {};
  return {link_->run_id()};
}

/// A primary without an answer may be dead. The next call starts a search.
void Sentinel::abandon(ConnectionNumber connection, TimePoint now) {
  if (find(connection) == nullptr) return;
  const std::string primary = primary_text();
  link_->abandon(connection, now);
  fail(of_server(primary, no_answer_in_time()), now);
}

std::string Sentinel::primary_text() const {
  return fmt::format("{}, the primary of {}", link_->address().str(), in_quotes(target_.master));
}

std::string Sentinel::connecting_to() const {
  if (state_ == State::searching) return search_.asked();
  return state_ == State::checking && link_ ? primary_text() : std::string{};
}

std::string Sentinel::server_of(ConnectionNumber connection) {
  return find(connection) != nullptr ? primary_text() : std::string{};
}

void Sentinel::send_on_abandoned(const std::vector<Call>& calls) {
  if (link_) link_->send_on_abandoned(calls);
  for (auto& link : retired_) link->send_on_abandoned(calls);
}

Connection* Sentinel::find(ConnectionNumber connection) { return link_ ? link_->find(connection) : nullptr; }

void Sentinel::watch(const Channel& channel) {
  if (watched_.insert(channel).second && state_ == State::leading) link_->watch({.channel = channel});
}

void Sentinel::unwatch(const Channel& channel) {
  if (watched_.erase(channel) != 0 && link_) link_->unwatch({.channel = channel});
}

const std::optional<std::string>& Sentinel::subscribe_error() const {
  static const std::optional<std::string> none;
  return link_ ? link_->subscribe_error() : none;
}

/// When advance() has something to do, or waits no longer. `leading` sets no timer: connection_for() asks
/// again.
TimePoint Sentinel::wake_at() const {
  switch (state_) {
    case State::resting: return watched_.empty() ? kNever : backoff_.next();
    case State::searching: return search_.wake_at();
    case State::checking: {
      const Connection* connection = link_->find(checked_);
      const bool moved = connection == nullptr || connection->failure() || role_->reply;
      if (moved) return TimePoint::min();
      return earliest(check_ends_, asks_again_ ? search_.wake_at() : confirmation_.ask_again_at());
    }
    case State::confirming:
    case State::leading:
      if (!leads()) return TimePoint::min();
      return earliest(asks_again_ ? search_.wake_at() : kNever,
                      state_ == State::confirming ? confirm_until_ : kNever);
  }
  return kNever;
}

void Sentinel::ready(short, TimePoint now) {
  advance(now);
  if (state_ == State::resting && !watched_.empty() && backoff_.due(now)) search(now);
}

}  // namespace rlock
