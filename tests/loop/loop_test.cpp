#include "loop/loop.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <list>

#include "support/forked.h"

using namespace rlock;
using namespace rlock::test;

namespace {

class Idle final : public Source {
 public:
  void ready(short, TimePoint) override {}
};

}  // namespace

TEST_CASE("sources without a descriptor do not count among those that the system lets us watch") {
  const int status = in_another_process([] {
    const rlimit few{8, 8};
    ::setrlimit(RLIMIT_NOFILE, &few);  // poll() takes no longer list
    Loop loop;
    std::list<Idle> sources(20);
    for (Idle& source : sources) loop.join(source);
    loop.turn(plus(Clock::now(), Milliseconds{1}));
    return 0;
  });
  CHECK(status == 0);
}
