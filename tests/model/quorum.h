#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "world.h"

namespace rlock::model {

/// Several independent servers, and clients that need most of them. A value, like World.
///
/// The clients are a model of src/sync/wait/{acquire,round,ballot,undo}.cpp, and of the rules of
/// src/redis/executor/attempts.cpp for several nodes. The calls and the reading of answers are the real ones. No time
/// passes, so no lease ends, and only the order of calls matters. A call is in flight until a server has it.
/// Calls of different clients, or to different servers, may be carried out in any order. On one connection
/// they keep their order, unless something fails.
class Quorum {
 public:
  Quorum(const Setting& setting, Interpreter& lua);

  std::vector<Event> events() const;
  std::optional<std::string> apply(const Event& event, std::vector<std::string>* trace = nullptr);

  /// Equal for worlds in which the same things can happen. Which server has which number does not matter.
  std::string describe() const;

  bool at_rest() const;

 private:
  /// A call that a client has sent to a node.
  struct Sent {
    enum class What { acquire, undo, release } what;
    std::size_t round;  ///< the number of the acquire or the undo
    std::shared_ptr<const Call> call;
  };

  /// The state between one client and one node.
  struct Link {
    enum class Vote { none, open, granted, busy, failed } vote = Vote::none;
    bool reached = false;          ///< it may have received an acquire, but not its undo
    int undos = 0;                 ///< number of unanswered undos
    std::deque<Sent> wire{};       ///< in flight, in this order
    std::deque<Sent> again{};      ///< the server could not carry them out: they are sent again
    std::deque<Sent> abandoned{};  ///< on a connection that is not read any more
  };

  struct Contender {
    enum class State { idle, asking, between, holding, done } state = State::idle;
    std::size_t round = 0;     ///< how many times it has asked
    std::size_t identity = 0;  ///< the index of the hold that it asks for
    std::vector<Link> links;
  };

  const ClientPlan& plan(int who) const { return setting_->clients[static_cast<std::size_t>(who)]; }
  const Hold& hold(int who) const;
  Contender& contender(int who) { return contenders_[static_cast<std::size_t>(who)]; }
  const Contender& contender(int who) const { return contenders_[static_cast<std::size_t>(who)]; }
  Link& link(int at) { return contender(at / nodes()).links[static_cast<std::size_t>(at % nodes())]; }
  const Link& link(int at) const {
    return contender(at / nodes()).links[static_cast<std::size_t>(at % nodes())];
  }
  int nodes() const { return setting_->nodes; }
  int quorum() const { return nodes() / 2 + 1; }
  int votes(int who, Link::Vote vote) const;

  void ask(int who);
  void post(int who, Sent::What what, const Call& call, bool only_reached);
  void undo_round(int who);
  void decide(int who);
  void release(int who);
  void deliver(int at, Event::Fate fate);
  void deliver_abandoned(int at);
  void abandon(int at);
  void answered(int at, const Sent& sent, const Reply* reply);
  Reply execute(int at, const Sent& sent, const char* how);

  void judge();
  void judge_rest();
  bool is_held_at(std::size_t node, int who) const;
  void blame(const std::string& what);
  void note(const std::string& line);

  const Setting* setting_;
  Interpreter* lua_;
  mutable std::vector<Store> stores_;
  std::vector<Contender> contenders_;
  int faults_;
  std::optional<std::string> wrong_{};
  std::vector<std::string>* trace_ = nullptr;
};

}  // namespace rlock::model
