#include "sync/kinds/free_wait.h"
#include "support/contains.h"

#include <doctest/doctest.h>

using namespace rlock;
using namespace rlock::test;

namespace {

const FreeWait kWait{{LockName{"a"}, LockName{"b"}}};

AcquireAnswer read_wait(std::vector<Reply> items) { return kWait.read(Reply{std::move(items)}); }

}  // namespace

TEST_CASE("a wait for free locks learns that they are free, which one is busy, and which is no lock") {
  const AcquireAnswer free = read_wait({Reply{"free"}, Reply{1000}});
  REQUIRE(std::holds_alternative<Held>(free));
  CHECK(std::get<Held>(free).server_time == ServerTime{Milliseconds{1000}});

  const AcquireAnswer busy = read_wait({Reply{"busy"}, Reply{2}, Reply{5000}, Reply{"me:1"}});
  REQUIRE(std::holds_alternative<Busy>(busy));
  CHECK(std::get<Busy>(busy).key == LockName{"b"});

  const AcquireAnswer foreign = read_wait({Reply{"foreign"}, Reply{1}, Reply{"list"}});
  REQUIRE(std::holds_alternative<Refused>(foreign));
  CHECK(contains(std::get<Refused>(foreign).text, "'a'"));
}

TEST_CASE("an answer that names no key, or is an unknown word, is a failure") {
  CHECK(std::holds_alternative<Failure>(read_wait({Reply{"busy"}, Reply{3}, Reply{5000}, Reply{"me:1"}})));
  CHECK(std::holds_alternative<Failure>(read_wait({Reply{"busy"}, Reply{0}, Reply{5000}, Reply{"me:1"}})));
  CHECK(std::holds_alternative<Failure>(read_wait({Reply{"held"}, Reply{1}, Reply{5000}, Reply{"me:1"}})));
}

TEST_CASE("a wait for free locks hears the releases of locks and of read/write locks") {
  CHECK(kWait.channels() == std::vector{Channel{"redisson_lock__channel:{a}"}, Channel{"redisson_rwlock:{a}"},
                                        Channel{"redisson_lock__channel:{b}"},
                                        Channel{"redisson_rwlock:{b}"}});
}
