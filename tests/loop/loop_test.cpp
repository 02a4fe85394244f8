#include "loop/loop.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <list>
#include <optional>

#include "base/descriptor.h"
#include "support/forked.h"

using namespace rlock;
using namespace rlock::test;

namespace {

class Idle final : public Source {
 public:
  void ready(short, TimePoint) override {}
};

/// Reads one byte from a pipe.
class Reader final : public Source {
 public:
  explicit Reader(int pipe) : pipe_(pipe) {}
  int fd() const override { return pipe_.number(); }
  void ready(short, TimePoint) override {
    char byte = 0;
    has_read = ::read(pipe_.number(), &byte, 1) == 1;
  }
  bool has_read = false;

 private:
  Descriptor pipe_;
};

/// Is late if it has read nothing by its deadline.
class Deadline final : public Source {
 public:
  Deadline(int pipe, TimePoint at) : pipe_(pipe), at_(at) {}
  int fd() const override { return pipe_; }
  TimePoint wake_at() const override { return at_; }
  void ready(short events, TimePoint now) override {
    if (events == 0) late = now >= at_;
  }
  bool late = false;

 private:
  int pipe_;
  TimePoint at_;
};

/// Its process is suspended for a minute before it asks for the time the second time. Meanwhile a byte arrives.
class SuspendedLoop final : public Loop {
 public:
  explicit SuspendedLoop(int pipe) : pipe_(pipe) {}
  TimePoint now() const noexcept override {
    if (++asked_ == 1) return Loop::now();
    if (asked_ == 2) (void)!::write(pipe_, "x", 1);
    return plus(Loop::now(), Milliseconds{60'000});
  }

 private:
  int pipe_;
  mutable int asked_ = 0;
};

/// In its turn, it replaces another source by a new one at the same address. Both are due at once.
class Replacer final : public Source {
 public:
  explicit Replacer(Loop& loop) : loop_(loop) {}
  TimePoint wake_at() const override { return TimePoint::min(); }
  void ready(short, TimePoint) override { replace(); }

  void replace() {
    joined_.reset();
    other_.emplace(*this);
    joined_.emplace(loop_, *other_);
  }

  int calls = 0;  ///< of the other source

 private:
  struct Other final : Source {
    explicit Other(Replacer& replacer) : owner(replacer) {}
    TimePoint wake_at() const override { return TimePoint::min(); }
    void ready(short, TimePoint) override { ++owner.calls; }
    Replacer& owner;
  };

  Loop& loop_;
  std::optional<Other> other_;
  std::optional<Membership> joined_;
};

/// Derives a fact from the byte that the reader has read.
class Deriver final : public Source {
 public:
  explicit Deriver(const Reader& reader) : reader_(reader) {}
  TimePoint wake_at() const override { return reader_.has_read ? TimePoint::min() : kNever; }
  void ready(short, TimePoint) override { told = true; }
  bool told = false;

 private:
  const Reader& reader_;
};

}  // namespace

TEST_CASE("what has arrived while the process was suspended is read before its deadline counts") {
  const Pipe pipe{O_NONBLOCK}, wakes;
  REQUIRE(::write(wakes.writing.number(), "x", 1) == 1);
  SuspendedLoop loop{pipe.writing.number()};
  Reader other{::dup(wakes.reading.number())};
  Deadline answer{pipe.reading.number(), plus(loop.Loop::now(), Milliseconds{30'000})};
  const Membership of_other{loop, other}, of_answer{loop, answer};

  loop.turn(kNever);
  CHECK(other.has_read);
  CHECK_FALSE(answer.late);
}

TEST_CASE("a source that derives facts from a reader is told in the same turn, even if it joined first") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  Loop loop;
  Reader reader{ends[0]};
  const Descriptor writer{ends[1]};
  Deriver deriver{reader};
  const Membership first{loop, deriver}, second{loop, reader};
  REQUIRE(::write(writer.number(), "x", 1) == 1);

  loop.turn(kNever);
  CHECK(reader.has_read);
  CHECK(deriver.told);
}

TEST_CASE(
    "a source that leaves during a turn is not called, even if another source takes its place in memory") {
  Loop loop;
  Replacer replacer{loop};
  const Membership first{loop, replacer};
  replacer.replace();
  loop.turn(TimePoint::min());
  CHECK(replacer.calls == 0);
}

TEST_CASE("sources without a descriptor do not count among those that the system lets us watch") {
  const int status = in_another_process([] {
    const rlimit few{8, 8};
    ::setrlimit(RLIMIT_NOFILE, &few);  // poll() refuses a longer list
    Loop loop;
    std::list<Idle> sources(20);
    std::list<Membership> memberships;
    for (Idle& source : sources) memberships.emplace_back(loop, source);
    loop.turn(plus(Clock::now(), Milliseconds{1}));
    return 0;
  });
  CHECK(status == 0);
}
