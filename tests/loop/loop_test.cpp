#include "loop/loop.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <list>

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
  short interest() const override { return POLLIN; }
  void ready(short, TimePoint) override {
    char byte = 0;
    has_read = ::read(pipe_.number(), &byte, 1) == 1;
  }
  bool has_read = false;

 private:
  Descriptor pipe_;
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

TEST_CASE("a source that derives facts from a reader is told in the same turn, even if it joined first") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  Loop loop;
  Reader reader{ends[0]};
  const Descriptor writer{ends[1]};
  Deriver deriver{reader};
  loop.join(deriver);
  loop.join(reader);
  REQUIRE(::write(writer.number(), "x", 1) == 1);

  loop.turn(kNever);
  CHECK(reader.has_read);
  CHECK(deriver.told);
  loop.leave(reader);
  loop.leave(deriver);
}

TEST_CASE("sources without a descriptor do not count among those that the system lets us watch") {
  const int status = in_another_process([] {
    const rlimit few{8, 8};
    ::setrlimit(RLIMIT_NOFILE, &few);  // poll() refuses a longer list
    Loop loop;
    std::list<Idle> sources(20);
    for (Idle& source : sources) loop.join(source);
    loop.turn(plus(Clock::now(), Milliseconds{1}));
    return 0;
  });
  CHECK(status == 0);
}
