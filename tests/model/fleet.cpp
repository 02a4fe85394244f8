#include "fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <unordered_map>

#include "interpreter.h"
#include "redis/connection/backoff.h"
#include "sync/kinds/lock.h"
#include "sync/records/metadata.h"
#include "sync/wait/pacing.h"

namespace rlock::model {
namespace {

constexpr std::int64_t kMs = 1000;  // the unit of this model is µs
constexpr std::int64_t kSecond = 1'000'000;

/// Equal to Timeouts::command and Timeouts::connect.
constexpr std::int64_t kAnswerIn = 2 * kSecond;
constexpr std::int64_t kConnectedIn = 2 * kSecond;

constexpr std::int64_t kArrivals = 60 * kSecond;  // in this time the hosts arrive
constexpr std::int64_t kWaiting = 120 * kSecond;  // all hosts wait for this time, the longest sleep of one
constexpr std::int64_t kPromotion = 2300 * kMs;   // from the death of a primary to the promotion
constexpr std::int64_t kStorm = 120 * kSecond;    // a failover is watched for at most this time

TimePoint point(std::int64_t at) { return TimePoint{std::chrono::microseconds{at + kSecond}}; }
std::int64_t micros(TimePoint at) {
  if (at == kNever) return std::numeric_limits<std::int64_t>::max();
  return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count() - kSecond;
}

/// The events in order of time.
class Agenda {
 public:
  std::int64_t now() const noexcept { return now_; }

  void at(std::int64_t time, std::function<void()> what) {
    entries_.push({std::max(time, now_), next_++, std::move(what)});
  }

  /// Runs the events that are due until `time`, or until `done`.
  void run(std::int64_t time, const std::function<bool()>& done = [] { return false; }) {
    while (!entries_.empty() && entries_.top().time <= time) {
      if (done()) return;
      now_ = entries_.top().time;
      // The entry is removed at once, so the change does not disturb the order.
      const auto what = std::move(const_cast<Entry&>(entries_.top()).what);
      entries_.pop();
      what();
    }
    now_ = std::max(now_, time);
  }

 private:
  struct Entry {
    std::int64_t time;
    std::uint64_t number;
    std::function<void()> what;
    bool operator<(const Entry& other) const {
      return std::tie(other.time, other.number) < std::tie(time, number);
    }
  };
  std::priority_queue<Entry> entries_;
  std::int64_t now_ = 0;
  std::uint64_t next_ = 0;
};

/// Counts requests in each second.
class Rate {
 public:
  void count(std::int64_t at, std::size_t requests = 1) {
    seconds_[at / kSecond] += static_cast<std::int64_t>(requests);
  }
  std::int64_t sum(std::int64_t from, std::int64_t to) const {
    std::int64_t sum = 0;
    for (auto one = seconds_.lower_bound(from / kSecond); one != seconds_.end() && one->first < to / kSecond;
         ++one)
      sum += one->second;
    return sum;
  }
  std::int64_t peak(std::int64_t from) const {
    std::int64_t peak = 0;
    for (auto one = seconds_.lower_bound(from / kSecond); one != seconds_.end(); ++one)
      peak = std::max(peak, one->second);
    return peak;
  }

 private:
  std::map<std::int64_t, std::int64_t> seconds_;
};

/// A server: one thread that does one thing after the other.
struct Server {
  Store store{kBegin};
  std::int64_t free_at = 0;
  std::int64_t worked = 0;
  Rate requests{};
  std::int64_t signs_of_life = 0;  ///< requests by which hosts only show that they still wait
  std::unordered_map<std::string, std::vector<int>> listeners{};
};

enum class HostPhase { away, waiting, holding, done };

struct Host {
  std::int64_t one_way = 0;  ///< µs
  int key = 0;
  HostPhase phase = HostPhase::away;
  std::unique_ptr<Lock> lock{};
  std::unique_ptr<Pacing> pacing{};
  std::optional<Busy> busy{};
  std::int64_t begun = 0;
  std::int64_t due = 0;
  std::int64_t ignore_until = 0;
  bool worth_asking = false;
  bool told = false;  ///< a message was the reason to ask, and not a confirmed subscription
  bool sends_facts = true;
  bool asking = false;           ///< a call is in flight
  bool lost = false;             ///< it has not asked since it lost its server
  bool rests = false;            ///< it pauses without a connection and listens to no channel
  bool undoes = false;           ///< the last call had no answer
  std::int64_t not_before = 0;   ///< the end of its pause
  std::uint64_t sleep = 0;       ///< the number of the current sleep
  std::uint64_t connection = 0;  ///< the current connection; 0: there is none
  std::uint64_t greeted = 0;     ///< the last connection on which the server has answered the greeting
  std::uint64_t asked = 0;       ///< the number of the last request
  Backoff backoff{};
  std::vector<std::string> channels{};
};

class Fleet {
 public:
  explicit Fleet(const FleetPlan& plan)
      : plan_(plan), random_(plan.seed), servers_(static_cast<std::size_t>(plan.shards)) {
    for (int shard = 0; shard < plan.shards; ++shard)
      servers_[static_cast<std::size_t>(shard)].store.publish_to(
          [this, shard](const std::string& channel, const std::string& text) {
            return publish(shard, channel, text);
          });
    turns_.resize(static_cast<std::size_t>(plan.keys));
    hosts_.resize(
        static_cast<std::size_t>(plan.hosts + plan.keys));  // one more for each key: its first holder
    for (std::size_t who = 0; who < hosts_.size(); ++who) begin(static_cast<int>(who));
  }

  FleetReport run() {
    FleetReport report;
    agenda_.run(kArrivals + 10 * kSecond);  // by now the last host has its place
    wait(report);
    hand_over(report);
    fail_over(report);
    report.overlaps = overlaps_;
    report.timeouts = timeouts_;
    return report;
  }

 private:
  // --- the fleet ---------------------------------------------------------------------------------

  Host& host(int who) { return hosts_[static_cast<std::size_t>(who)]; }
  Server& server_of(const Host& one) { return servers_[static_cast<std::size_t>(one.key % plan_.shards)]; }

  double draw() { return std::uniform_real_distribution<>{0, 1}(random_); }

  void begin(int who) {
    Host& one = host(who);
    const bool first = who < plan_.keys;
    one.key = who % plan_.keys;
    const double rtt = plan_.least_rtt * std::pow(plan_.most_rtt / plan_.least_rtt, draw());
    one.one_way = static_cast<std::int64_t>(rtt * kMs / 2);
    const Jitter jitter = [this](Milliseconds span) {
      return Milliseconds{static_cast<Milliseconds::rep>(draw() * static_cast<double>(span.count() + 1))};
    };
    one.pacing = std::make_unique<Pacing>(jitter);
    one.backoff = Backoff{jitter};
    one.lock = lock_of(who);
    const std::int64_t comes =
        first ? 0 : kSecond + static_cast<std::int64_t>(draw() * (kArrivals - kSecond));
    agenda_.at(comes, [this, who] {
      host(who).begun = agenda_.now();
      connect(who);
    });
  }

  std::unique_ptr<Lock> lock_of(int who) {
    return std::make_unique<Lock>(
        Claim{.name = LockName{fmt::format("key{}", host(who).key)},
              .owner = Owner{fmt::format("{:08x}-922f-8ca9-9275-{:012x}:{}", who, ++owners_, who)},
              .if_busy = IfBusy::place});
  }

  // --- the network -------------------------------------------------------------------------------

  /// Sends a write of a host to a server, which handles it when it is free.
  template <class Work>
  void request(int who, Server& server, std::size_t commands, std::int64_t extra, Work work) {
    const std::uint64_t connection = host(who).connection;
    agenda_.at(agenda_.now() + host(who).one_way, [this, &server, commands, extra, work, connection] {
      if (down_) return;  // the server is down
      const std::int64_t starts = std::max(agenda_.now(), server.free_at);
      server.requests.count(starts, commands);
      server.store.advance_to(kBegin + starts / kMs, starts % kMs);
      const std::int64_t before = server.store.commands();
      publishes_at_ = starts;
      work(connection, starts);
      const std::int64_t took = plan_.request + extra + plan_.command * (server.store.commands() - before);
      server.worked += took;
      server.free_at = starts + took;
    });
  }

  /// Delivers a server's reply to a host, if its connection still lives.
  void answer(int who, std::uint64_t connection, std::int64_t from, std::function<void()> what) {
    agenda_.at(from + host(who).one_way, [this, who, connection, what = std::move(what)] {
      if (host(who).connection == connection) what();
    });
  }

  std::size_t publish(int shard, const std::string& channel, const std::string& text) {
    auto& listeners = servers_[static_cast<std::size_t>(shard)].listeners;
    const auto found = listeners.find(channel);
    if (found == listeners.end()) return 0;
    for (const int who : found->second)
      answer(who, host(who).connection, publishes_at_,
             [this, who, channel, text] { read_notice(who, channel, text); });
    return found->second.size();
  }

  void connect(int who) {
    Host& one = host(who);
    one.backoff.began(point(agenda_.now()));
    one.connection = ++connections_;
    one.channels.clear();
    agenda_.at(agenda_.now() + 2 * one.one_way, [this, who, connection = one.connection] {
      if (host(who).connection != connection) return;
      if (down_) return lose(who);
      request(who, server_of(host(who)), 0, plan_.connect - plan_.request,
              [this, who](std::uint64_t greeted, std::int64_t starts) {
                answer(who, greeted, starts + plan_.connect, [this, who] { resume(who); });
              });
    });
    agenda_.at(agenda_.now() + kConnectedIn, [this, who, connection = one.connection] {
      if (host(who).connection != connection || host(who).greeted == connection) return;
      ++timeouts_;
      lose(who);
    });
  }

  /// Makes the calls that have become due while the host had no connection.
  void resume(int who) {
    Host& one = host(who);
    one.greeted = one.connection;
    if (one.phase == HostPhase::holding) {
      if (releases_[who]) release(who);
      return;
    }
    if (one.phase == HostPhase::done) return;
    if (one.undoes) return undo(who);
    if (one.busy && !std::exchange(one.rests, false)) listen(who);
    if (one.sleep == 0) ask(who);
  }

  void lose(int who) {
    Host& one = host(who);
    const bool served = one.connection != 0 && one.greeted == one.connection;
    forget_channels(who);
    one.connection = 0;
    one.asking = false;
    if (served) one.lost = true;
    one.backoff.ended(point(agenda_.now()));
    if (one.phase == HostPhase::done) return;
    if (served && one.sleep != 0) {
      const std::int64_t pause = pause_behind_others(one);
      wake_at(who, std::min(one.due, agenda_.now() + pause));
      one.rests = pause > 0;
      if (one.rests) return;
    }
    agenda_.at(micros(one.backoff.next()), [this, who] { reconnect(who); });
  }

  /// Behind Sentinel, a host first asks the Sentinel, on a separate connection.
  void reconnect(int who) {
    Host& one = host(who);
    if (one.connection != 0 || one.phase == HostPhase::done) return;
    if (!sentinel_) return connect(who);
    one.backoff.began(point(agenda_.now()));
    agenda_.at(agenda_.now() + 3 * one.one_way, [this, who] {
      const std::int64_t starts = std::max(agenda_.now(), sentinel_free_at_);
      sentinel_free_at_ = starts + plan_.connect + 2 * plan_.request;  // a greeting and a question
      sentinel_requests_.count(starts, 2);
      agenda_.at(sentinel_free_at_ + host(who).one_way, [this, who] { connect(who); });
    });
  }

  void forget_channels(int who) {
    auto& listeners = server_of(host(who)).listeners;
    for (const std::string& channel : host(who).channels) {
      const auto found = listeners.find(channel);
      if (found == listeners.end()) continue;
      std::erase(found->second, who);
      if (found->second.empty()) listeners.erase(found);
    }
    host(who).channels.clear();
  }

  // --- a host: like acquire.cpp and sleep.cpp of src/sync/wait -----------------------------------

  std::vector<Call> with_facts(int who, Call call) {
    std::vector<Call> calls{std::move(call)};
    const Host& one = host(who);
    if (one.sends_facts)
      calls.push_back(write_metadata(
          one.lock->name(), one.lock->owner(), one.lock->hold_entry(), Milliseconds{30000},
          {.host = fmt::format("host-{:06}", who), .user = "root", .command = "report", .pid = 4711}));
    return calls;
  }

  void send(int who, std::vector<Call> calls, std::function<void(const Reply&)> heard) {
    Host& one = host(who);
    const std::uint64_t number = ++requests_;
    one.asked = number;
    one.asking = true;
    const std::size_t count = calls.size();
    request(who, server_of(one), count, 0,
            [this, who, calls = std::move(calls), heard = std::move(heard)](std::uint64_t connection,
                                                                            std::int64_t starts) {
              std::optional<Reply> first;
              for (const Call& call : calls) {
                Reply reply = lua_.run(call, server_of(host(who)).store);
                if (reply.is_error()) throw std::runtime_error{reply.text()};
                if (!first) first = std::move(reply);
              }
              answer(who, connection, starts + plan_.request, [this, who, heard, reply = *first] {
                host(who).asking = false;
                heard(reply);
              });
            });
    agenda_.at(agenda_.now() + kAnswerIn, [this, who, number] {
      if (host(who).asked != number || !host(who).asking) return;
      ++timeouts_;
      Host& it = host(who);
      it.undoes = it.phase == HostPhase::waiting;
      const Milliseconds behind = it.busy ? Line::pause_behind_others(*it.busy) : Milliseconds{0};
      it.not_before = micros(
          it.pacing
              ->after(
                  {.failed = true, .announced = true, .poll_every = Line::kSleepsAtMost, .behind = behind},
                  point(agenda_.now()))
              .until);
      lose(who);
    });
  }

  void ask(int who) {
    Host& one = host(who);
    one.phase = HostPhase::waiting;
    one.sleep = 0;
    const Milliseconds waited{(agenda_.now() - one.begun) / kMs};
    send(who, with_facts(who, one.lock->ask(waited)),
         [this, who](const Reply& reply) { take_up(who, reply); });
  }

  /// Undoes the unanswered call, and after a pause asks as another owner.
  void undo(int who) {
    const std::optional<Call> undo = host(who).lock->undo(Wake::waiters);
    send(who, {*undo}, [this, who](const Reply&) {
      Host& one = host(who);
      one.undoes = false;
      one.lock = lock_of(who);
      wake_at(who, one.not_before);
    });
  }

  std::int64_t pause_behind_others(const Host& one) const {
    return kMs * (one.busy ? Line::pause_behind_others(*one.busy).count() : 0);
  }

  void take_up(int who, const Reply& reply) {
    Host& one = host(who);
    const AcquireAnswer attempt = one.lock->read(reply);
    if (std::holds_alternative<Held>(attempt)) return hold(who);
    if (!std::holds_alternative<Busy>(attempt)) throw std::runtime_error{"refused"};
    one.busy = std::get<Busy>(attempt);
    one.lost = false;
    sleep(who);
  }

  void sleep(int who) {
    Host& one = host(who);
    listen(who);
    const Pacing::Plan plan = one.pacing->after({.busy = &*one.busy,
                                                 .announced = true,
                                                 .poll_every = Line::kSleepsAtMost,
                                                 .pause = one.lock->pause()},
                                                point(agenda_.now()));
    one.worth_asking = false;
    one.told = false;
    wake_at(who, micros(plan.until));
  }

  void wake_at(int who, std::int64_t due) {
    Host& one = host(who);
    one.due = due;
    one.sleep = ++sleeps_;
    agenda_.at(due, [this, who, sleep = one.sleep] {
      Host& it = host(who);
      if (it.sleep != sleep || it.asking) return;
      it.sleep = 0;
      if (it.rests) reconnect(who);
      if (it.connection == 0 || it.greeted != it.connection) {
        it.sends_facts = true;
        return;  // resume() asks
      }
      if (it.worth_asking) it.pacing->count_wakeup(point(agenda_.now()));
      it.sends_facts =
          it.told || it.lost || it.lock->line(*it.busy) == nullptr || *it.busy->position <= Line::kListening;
      if (!it.worth_asking && !it.lost) ++server_of(it).signs_of_life;
      ask(who);
    });
  }

  void listen(int who) {
    Host& one = host(who);
    std::vector<std::string> wanted;
    const Line* const line = one.lock->line(*one.busy);
    for (const Channel& channel : line != nullptr ? line->channels(*one.busy) : one.lock->channels())
      wanted.push_back(channel.str());
    std::vector<std::string> fresh;
    for (const std::string& channel : wanted)
      if (!std::ranges::count(one.channels, channel)) fresh.push_back(channel);
    if (fresh.empty()) return;
    one.channels.insert(one.channels.end(), fresh.begin(), fresh.end());
    request(who, server_of(one), fresh.size(), plan_.command * static_cast<std::int64_t>(fresh.size()),
            [this, who, fresh](std::uint64_t connection, std::int64_t starts) {
              if (host(who).connection != connection) return;
              for (const std::string& channel : fresh) server_of(host(who)).listeners[channel].push_back(who);
              answer(who, connection, starts, [this, who, fresh] {
                for (const std::string& channel : fresh) read_notice(who, channel, std::nullopt);
              });
            });
  }

  void read_notice(int who, const std::string& channel, const std::optional<std::string>& text) {
    Host& one = host(who);
    if (one.phase != HostPhase::waiting || one.sleep == 0 || one.asking) return;
    const Line::Notice notice = one.lock->read_notice({Channel{channel}, text}, *one.busy);
    const TimePoint now = point(agenda_.now());
    if (notice.place) {
      Line::move_up(*one.busy, notice, now);
      if (!one.worth_asking && !notice.ask_after) return sleep(who);
    }
    if (!notice.ask_after) return;
    const std::int64_t wanted =
        micros(std::max(plus(now, *notice.ask_after), one.pacing->ask_after_wakeup()));
    one.worth_asking = true;
    one.told = one.told || text.has_value();
    wake_at(who, notice.not_before ? wanted : std::min(one.due, wanted));
  }

  // --- a holder ------------------------------------------------------------------------------------

  struct Turns {
    int holders = 0;
    std::int64_t released = 0;
    std::vector<std::int64_t> gaps{};  ///< µs
  };

  void hold(int who) {
    Host& one = host(who);
    one.phase = HostPhase::holding;
    one.sleep = 0;
    Turns& turns = turns_[static_cast<std::size_t>(one.key)];
    if (++turns.holders > 1) ++overlaps_;
    if (turns.released != 0) turns.gaps.push_back(agenda_.now() - turns.released);
    ++handed_over_;
    if (!open_) return renew_later(who);
    agenda_.at(agenda_.now() + plan_.hold, [this, who] { release(who); });
  }

  /// While the gate is closed, a holder keeps the lock and renews it.
  void renew_later(int who) {
    gated_.push_back(who);
    renew(who);
  }
  void renew(int who) {
    agenda_.at(agenda_.now() + 10 * kSecond, [this, who] {
      if (host(who).phase != HostPhase::holding || releases_[who]) return;
      if (host(who).connection != 0 && !host(who).asking)
        send(who, {host(who).lock->renew()}, [](const Reply&) {});
      renew(who);
    });
  }

  void release(int who) {
    Host& one = host(who);
    if (one.phase != HostPhase::holding) return;
    if (!std::exchange(releases_[who], true)) {
      Turns& turns = turns_[static_cast<std::size_t>(one.key)];
      --turns.holders;
      turns.released = agenda_.now();
    }
    if (one.connection == 0) return;  // resume() sends it
    std::vector<Call> calls{one.lock->release({})};
    calls.push_back(erase_metadata(one.lock->name(), one.lock->owner(), one.lock->hold_entry()));
    send(who, std::move(calls), [this, who](const Reply&) {
      forget_channels(who);
      host(who).phase = HostPhase::done;
    });
  }

  void open_gate() {
    open_ = true;
    for (const int who : std::exchange(gated_, {}))
      if (host(who).phase == HostPhase::holding && !releases_[who]) release(who);
  }

  /// From now on the next holder of each key keeps the lock.
  void close_gate() { open_ = false; }

  // --- what is measured ----------------------------------------------------------------------------

  std::int64_t requests(std::int64_t from, std::int64_t to) const {
    std::int64_t sum = 0;
    for (const Server& server : servers_) sum += server.requests.sum(from, to);
    return sum;
  }

  /// The number of requests, without those by which a waiter only shows that it is alive.
  std::int64_t asked_for_turns() const {
    std::int64_t sum = requests(0, agenda_.now() + 2 * kSecond);
    for (const Server& server : servers_) sum -= server.signs_of_life;
    return sum;
  }

  void wait(FleetReport& report) {
    const std::int64_t from = agenda_.now();
    std::int64_t worked = 0;
    for (const Server& server : servers_) worked -= server.worked;
    agenda_.run(from + kWaiting);
    std::size_t bytes = 0;
    for (const Server& server : servers_) {
      worked += server.worked;
      bytes += server.store.bytes();
    }
    const double seconds = static_cast<double>(kWaiting) / kSecond;
    report.waiting = static_cast<double>(requests(from, agenda_.now())) / seconds;
    report.waiting_busy = static_cast<double>(worked) / static_cast<double>(kWaiting) / plan_.shards;
    report.bytes_per_waiter = static_cast<double>(bytes) / plan_.hosts;
  }

  void hand_over(FleetReport& report) {
    const int turns = std::min(plan_.turns * plan_.keys, plan_.hosts / 2);
    const std::int64_t before = asked_for_turns();
    handed_over_ = 0;
    open_gate();
    agenda_.run(agenda_.now() + 3600 * kSecond, [&] { return handed_over_ >= turns; });
    close_gate();
    report.requests_per_turn = static_cast<double>(asked_for_turns() - before) / handed_over_;
    std::vector<std::int64_t> gaps;
    for (const Turns& one : turns_) gaps.insert(gaps.end(), one.gaps.begin(), one.gaps.end());
    if (gaps.empty()) throw std::runtime_error{"nobody was handed over to"};
    std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
    report.turn = static_cast<double>(gaps[gaps.size() / 2]) / kMs;
    agenda_.run(agenda_.now() + 10 * kSecond);  // the last holder keeps the lock, and all others wait
  }

  void fail_over(FleetReport& report) {
    sentinel_ = true;
    down_ = true;
    for (int who = 0; who < static_cast<int>(hosts_.size()); ++who)
      agenda_.at(agenda_.now() + host(who).one_way, [this, who] {
        if (host(who).connection != 0) lose(who);
      });
    const std::int64_t promotion = agenda_.now() + kPromotion;
    agenda_.run(promotion);
    down_ = false;
    for (Server& server : servers_) server.free_at = agenda_.now();
    handed_over_ = 0;
    open_gate();
    const std::int64_t first_second = agenda_.now();
    agenda_.run(promotion + kStorm, [&] { return handed_over_ > 0; });
    report.storm_first = static_cast<double>(agenda_.now() - promotion) / kSecond;
    agenda_.run(promotion + kStorm, [&] { return settled(); });
    report.storm_settled = static_cast<double>(agenda_.now() - promotion) / kSecond;
    for (const Server& server : servers_)
      report.storm_peak =
          std::max(report.storm_peak, static_cast<double>(server.requests.peak(first_second)));
    report.sentinel_peak = static_cast<double>(sentinel_requests_.peak(first_second - kPromotion));
  }

  /// True: nearly all hosts wait again. It counts them only ten times a second of model time; in between it is false.
  bool settled() {
    if (agenda_.now() < look_at_) return false;
    look_at_ = agenda_.now() + 100 * kMs;
    const auto waits = [](const Host& one) {
      return one.phase == HostPhase::done || one.phase == HostPhase::holding ||
             (one.connection != 0 && one.sleep != 0 && !one.lost);
    };
    return std::ranges::count_if(hosts_, waits) * 100 >= static_cast<std::ptrdiff_t>(hosts_.size()) * 99;
  }

  const FleetPlan plan_;
  std::mt19937_64 random_;
  Agenda agenda_;
  Interpreter lua_;
  std::vector<Server> servers_;
  std::vector<Host> hosts_;
  std::vector<Turns> turns_;
  std::map<int, bool> releases_;
  std::vector<int> gated_;
  Rate sentinel_requests_;
  std::int64_t sentinel_free_at_ = 0;
  std::int64_t publishes_at_ = 0;
  std::int64_t look_at_ = 0;
  std::int64_t overlaps_ = 0;
  std::int64_t timeouts_ = 0;
  std::uint64_t owners_ = 0, connections_ = 0, requests_ = 0, sleeps_ = 0;
  int handed_over_ = 0;
  bool open_ = false;      ///< a holder releases after plan_.hold
  bool down_ = false;      ///< no server is up
  bool sentinel_ = false;  ///< hosts ask for the primary
};

}  // namespace

FleetReport run_fleet(const FleetPlan& plan) { return Fleet{plan}.run(); }

}  // namespace rlock::model
