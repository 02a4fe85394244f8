// When the work of --once-per is done, rlock tells all waiters, wherever they stand: the work is done for all
// of them.

#include "sync/kinds/once_per.h"

#include <doctest/doctest.h>

#include <list>
#include <memory>
#include <string>

#include "support/fair_scene.h"
#include "sync/kinds/lock.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A holder a:1 that does the work on "deploy", and waiters for it.
struct Work : FairScene {
  template <class L>
  void begins() {
    lock_ = std::make_shared<const OncePer>(std::make_shared<const L>(claim("a:1")), "me");
    REQUIRE(is_held(FairScene::ask(*lock_)));
  }

  /// Adds waiters, and listens on each one's own channel.
  template <class L>
  void wait(int count) {
    for (int i = 0; i < count; ++i) {
      Claim waiter = claim(std::string{"w"} + std::to_string(listeners.size()) + ":1");
      waiter.if_busy = IfBusy::place;
      REQUIRE(is_busy(FairScene::ask(L{waiter})));
      listeners.emplace_back(server, Channel{kChannel + waiter.owner.str()});
    }
  }

  void is_done() {
    const std::int64_t in_an_hour = now() + 3600000;
    CHECK(Scene::release(*lock_, {.keep_until = ServerTime{Milliseconds{in_an_hour}}}).how ==
          Released::How::kept);
  }

  std::list<Listener> listeners;

 private:
  std::shared_ptr<const Lockable> lock_;
};

}  // namespace

TEST_CASE(
    "when the work is done, each waiter of a line is told on its own channel, and so are waiters without a place") {
  Work work;
  work.begins<Lock>();
  Listener without_place{work.server, Channel{"redisson_lock__channel:{deploy}"}};
  work.wait<Lock>(5);
  work.is_done();
  for (Listener& waiter : work.listeners) CHECK(waiter.heard() == "0");
  CHECK(without_place.heard() == "0");
}

TEST_CASE(
    "when the work of a fair lock is done, each waiter in its queue and in the line beside it is told") {
  Work work;
  work.begins<FairLock>();
  Listener without_place{work.server, Channel{"redisson_lock__channel:{deploy}"}};
  work.wait<FairLock>(3);
  work.wait<Lock>(3);
  work.is_done();
  for (Listener& waiter : work.listeners) CHECK(waiter.heard() == "0");
  CHECK(without_place.heard() == "0");
}

TEST_CASE("if the work is not done, only the first waiter is told that it is its turn") {
  Work work;
  work.begins<Lock>();
  work.wait<Lock>(3);
  work.release("a:1");
  CHECK(work.listeners.front().heard() == "0");
  CHECK(work.listeners.back().heard() == "3 0");
}

TEST_CASE("only a whole answer says that the work is done") {
  const std::vector<Reply> done{Reply{"done"}, Reply{9000}, Reply{4000}, Reply{600}, Reply{"me@web"}};
  const auto read = OncePer::read_status(Reply{done});
  REQUIRE(read);
  CHECK(read->since == Milliseconds{5000});
  CHECK(read->rest == Milliseconds{600});
  CHECK(read->facts == "me@web");
  std::vector<Reply> other = done;
  other.front() = Reply{"open"};
  CHECK_FALSE(OncePer::read_status(Reply{other}));
  other = done;
  other.pop_back();
  CHECK_FALSE(OncePer::read_status(Reply{other}));
  CHECK_FALSE(OncePer::read_status(Reply{}));
  CHECK_FALSE(OncePer::read_status(Reply::error("NOPERM")));
  other = done;
  other.front() = Reply{std::vector<Reply>{}};
  CHECK_FALSE(OncePer::read_status(Reply{other}));
}

TEST_CASE("a release that marks the work as done has no form with one key, which could not mark it") {
  const OncePer once{std::make_shared<const Lock>(claim("a:1")), "me"};
  CHECK(once.release({}).while_slot_moves.size() == 1);
  CHECK(once.release({.keep_until = ServerTime{Milliseconds{9000}}}).while_slot_moves.empty());
}
