#include "redis/reply.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "redis/connection/reply_reader.h"
#include "redis/rows.h"
#include "support/forked.h"
#include "support/profile.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Reply read_one(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  auto item = reader.next();
  REQUIRE(item.has_value());
  CHECK_FALSE(reader.next().has_value());
  return std::move(item->reply);
}

void read_all(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  while (reader.next()) {}
}

/// From here on no allocation of a megabyte succeeds.
[[maybe_unused]] void leave_no_megabyte() {
  std::size_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  const rlimit none{.rlim_cur = pages * static_cast<std::size_t>(::getpagesize()), .rlim_max = RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &none);
  while (std::malloc(1U << 20) != nullptr) {}
}

/// The largest memory that this process has used, in bytes.
std::size_t peak() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

constexpr std::string_view kMixed =
    "*7\r\n$1\r\na\r\n:7\r\n+OK\r\n-ERR no\r\n$-1\r\n*-1\r\n*2\r\n:1\r\n:-2\r\n";

}  // namespace

TEST_CASE("a reply is read the same from any pieces") {
  for (std::size_t cut = 0; cut <= kMixed.size(); ++cut) {
    ReplyReader reader;
    reader.feed(kMixed.substr(0, cut));
    CHECK(reader.next().has_value() == (cut == kMixed.size()));
    if (cut == kMixed.size()) continue;
    reader.feed(kMixed.substr(cut));

    const Reply reply = reader.next().value().reply;
    CHECK(reply.items().size() == 7);
    CHECK(reply.at(0).text() == "a");
    CHECK(reply.at(1).integer() == 7);
    CHECK(reply.at(2).kind() == Reply::Kind::status);
    CHECK(reply.at(3).is_error("ERR"));
    CHECK(reply.at(4).is_nil());
    CHECK(reply.at(5).is_nil());
    CHECK(reply.at(6).at(1).integer() == -2);
    CHECK(reply.at(7).is_nil());
  }
}

TEST_CASE("replies that came together are told apart") {
  ReplyReader reader;
  reader.feed(":1\r\n:2\r\n>1\r\n:3\r\n:4");
  CHECK(reader.next()->reply.integer() == 1);
  const auto second = reader.next();
  CHECK(second->reply.integer() == 2);
  CHECK_FALSE(second->push);
  CHECK(reader.next()->push);
  CHECK_FALSE(reader.next().has_value());
  reader.feed("\r\n");
  CHECK(reader.next()->reply.integer() == 4);
}

TEST_CASE("the types of RESP3 become plain values") {
  CHECK(read_one("_\r\n").is_nil());
  CHECK(read_one("#t\r\n").integer() == 1);
  CHECK(read_one(",1.5\r\n").text() == "1.5");
  CHECK(read_one("(123456789012345678901234567890\r\n").text() == "123456789012345678901234567890");
  CHECK(read_one("=8\r\ntxt:some\r\n").text() == "some");
  CHECK(read_one("%1\r\n+a\r\n:1\r\n").items().size() == 2);
  CHECK(read_one("~2\r\n:1\r\n:2\r\n").at(1).integer() == 2);
}

TEST_CASE("malformed bytes are an error that names the fault") {
  for (const std::string_view bytes :
       {"HTTP/1.1 400 Bad Request\r\n", "\r\n", "$9223372036854775807x\r\n", "*-2\r\n", "$-2\r\n", ":12a\r\n",
        ":99999999999999999999\r\n", "*9223372036854775807\r\n", "#x\r\n", "|1\r\n+a\r\n:1\r\n:2\r\n"}) {
    CAPTURE(bytes);
    CHECK_THROWS_WITH_AS(read_all(bytes), doctest::Contains("does not speak the Redis protocol"), Error);
  }
  CHECK_THROWS_WITH(read_all("\x15\x03\x03\x02\x02"),
                    doctest::Contains("it looks like a TLS server: rediss://"));
  CHECK_THROWS_WITH(read_all("HTTP/1.1 200 OK\r\n"), doctest::Contains("it looks like a web server"));
}

TEST_CASE("a bulk string that does not end is an error when it exceeds the limit") {
  ReplyReader reader;
  reader.feed("$9223372036854775807\r\n");
  CHECK_FALSE(reader.next().has_value());

  const std::string megabyte(1 << 20, '\0');
  const auto flood = [&] {
    for (int i = 0; i < 40; ++i) {
      reader.feed(megabyte);
      (void)reader.next();
    }
  };
  CHECK_THROWS_WITH(flood(), doctest::Contains("more than any answer needs"));
}

TEST_CASE("a reply that is too deep, too wide or too large as a whole is refused while it arrives") {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "*1\r\n";
  CHECK_THROWS_WITH(read_all(deep), doctest::Contains("more than any answer needs"));

  std::string wide = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) wide += "*100000\r\n:1\r\n";
  CHECK_THROWS_WITH(read_all(wide), doctest::Contains("more than any answer needs"));

  ReplyReader reader;
  reader.feed("*100000\r\n");
  const std::string item = "$1000000\r\n" + std::string(1'000'000, 'x') + "\r\n";
  const auto large = [&] {
    for (int i = 0; i < 100; ++i) {
      reader.feed(item);
      (void)reader.next();
    }
  };
  CHECK_THROWS_WITH(large(), doctest::Contains("more than any answer needs"));
}

TEST_CASE("arrays in arrays reserve no more memory than a reply may take") {
  std::string nested;
  for (int level = 0; level < 60; ++level) nested += "*100000\r\n";
  const int status = in_another_process([&] {
    const std::size_t before = peak();
    ReplyReader reader;
    reader.feed(nested);
    try {
      (void)reader.next();
    } catch (const Error&) {
      return peak() <= before + 2 * ReplyReader::kMostBytes ? 0 : 1;
    }
    return 2;
  });
  CHECK(status == 0);
}

TEST_CASE("a reply for which there is no memory is no fault of the server") {
  if (kSanitized) return skipped("AddressSanitizer reserves all addresses for itself");
  const std::string whole = "$4000000\r\n" + std::string(4'000'000, 'x') + "\r\n";
  const std::string wide = "*100000\r\n";
  for (const std::string& bytes : {whole, wide}) {
    const int status = in_another_process([&] {
      ReplyReader reader;
      leave_no_megabyte();
      try {
        reader.feed(bytes);
        while (reader.next()) {}
      } catch (const std::bad_alloc&) {
        return 0;
      } catch (const Error&) {
        return 1;
      }
      return 2;
    });
    CHECK(status == 0);
  }
}

TEST_CASE("64 levels are read") {
  std::string text;
  for (int i = 0; i < 63; ++i) text += "*1\r\n";
  const Reply reply = read_one(text + ":1\r\n");
  CHECK(reply.at(0).at(0).kind() == Reply::Kind::array);
}

TEST_CASE("a reply of another kind than expected is an error that shows it") {
  CHECK_THROWS_WITH(Reply{"x"}.integer(), "the server answered 'x' where a number was expected");
  CHECK_THROWS_WITH(Reply{}.text(), "the server answered nothing where text was expected");
  CHECK_THROWS_WITH(Reply{1}.items(), "the server answered '1' where a list was expected");
  CHECK(Reply{"-12"}.integer() == -12);
  CHECK_THROWS(Reply{"--1"}.integer());
}

TEST_CASE("the rows of a flat array have names for their items, and an incomplete last row is left out") {
  const std::vector<Reply> items{Reply{"a"}, Reply{1}, Reply{"b"}, Reply{2}, Reply{"c"}};
  std::string all;
  for (const auto& [word, number] : rows_of<2>(items)) all += word.text() + number.text();
  CHECK(all == "a1b2");
  for (const auto& [one, two, three] : rows_of<3>({})) FAIL(one.text());
}
