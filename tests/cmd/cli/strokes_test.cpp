// The keys that a user presses, as a terminal sends them.

#include "cmd/cli/strokes.h"

#include <doctest/doctest.h>

using namespace rlock;

TEST_CASE("keys are read from the bytes of a terminal, in pieces too") {
  std::string bytes = "q\x1b[A\x1bOBs?\r\x1b[5~\x1b[99;1Rx";
  CHECK(strokes_in(bytes) == std::vector<Stroke>{{Meaning::quit, "q"},
                                                 Meaning::up,
                                                 Meaning::down,
                                                 {Meaning::sort, "s"},
                                                 {Meaning::help, "?"},
                                                 Meaning::enter,
                                                 Meaning::page_up,
                                                 Meaning::other,
                                                 {Meaning::other, "x"}});
  CHECK(bytes.empty());
  bytes = "\x1b[";
  CHECK(strokes_in(bytes).empty());
  bytes += "B";
  CHECK(strokes_in(bytes) == std::vector<Stroke>{Meaning::down});
  bytes = "\x1b";
  CHECK(strokes_in(bytes) == std::vector<Stroke>{Meaning::escape});
  bytes = "/\x7f\b\x01\xc3\xa9";
  CHECK(strokes_in(bytes) == std::vector<Stroke>{{Meaning::filter, "/"},
                                                 Meaning::erase,
                                                 Meaning::erase,
                                                 Meaning::other,
                                                 {Meaning::other, "\xc3"},
                                                 {Meaning::other, "\xa9"}});
}
