#include "base/text.h"

#include <doctest/doctest.h>

#include <cerrno>

#include <string>
#include <utility>
#include <vector>

#include "support/dice.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("text for people stays as it is") {
  for (const char* text : {"", "deploy", "a b  c", "Grüße", "日本語", "🔒", "back\\slash", "it's", "~"}) {
    CAPTURE(text);
    CHECK(sanitized(text) == text);
  }
}

TEST_CASE("the natural order is a strict total order") {
  Dice dice{7};
  std::vector<std::string> texts;
  for (int i = 0; i < 60; ++i) texts.push_back(dice.text("0127a-\xff", 4));
  for (const auto& a : texts) {
    CHECK_FALSE(before_in_natural_order(a, a));
    for (const auto& b : texts) {
      CHECK((before_in_natural_order(a, b) || before_in_natural_order(b, a)) == (a != b));
      for (const auto& c : texts)
        if (before_in_natural_order(a, b) && before_in_natural_order(b, c))
          REQUIRE(before_in_natural_order(a, c));
    }
  }
  CHECK(before_in_natural_order("99999999999999999999998", "99999999999999999999999"));
}

TEST_CASE("bytes that a terminal would obey become visible") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"\x1b[2J", "\\x1b[2J"},
      {"a\nb\r\tc", "a\\x0ab\\x0d\\x09c"},
      {"\x7f", "\\x7f"},
      {std::string(1, '\0'), "\\x00"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m"},  // CSI as UTF-8
      {"\x9b"
       "31m",
       "\\x9b31m"},  // CSI as a raw byte
      {"\xe2\x80\xae"
       "gpj.exe",
       "\\xe2\\x80\\xaegpj.exe"},           // right-to-left override
      {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},  // line separator
      {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},  // isolate
      {"\xd8\x9c", "\\xd8\\x9c"},           // Arabic letter mark
  };
  for (const auto& [bytes, shown] : table) {
    CAPTURE(shown);
    CHECK(sanitized(bytes) == shown);
  }
}

TEST_CASE("bytes that are no UTF-8 become visible one by one") {
  CHECK(sanitized("\xff") == "\\xff");
  CHECK(sanitized("\xc3") == "\\xc3");  // cut short
  CHECK(sanitized("\xc3(") == "\\xc3(");
  CHECK(sanitized("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(sanitized("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");           // overlong
  CHECK(sanitized("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(sanitized("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  CHECK(sanitized("\xf5\x80\x80\x80") == "\\xf5\\x80\\x80\\x80");
}

TEST_CASE("a long text is cut between characters, and ends in dots") {
  CHECK(sanitized("abcdef", 6) == "abcdef");
  CHECK(sanitized("abcdef", 5) == "abcde...");
  CHECK(sanitized("ab\xc3\xbc", 3) == "ab...");
  CHECK(sanitized(std::string(1000, 'x')).size() == 303);
  CHECK(in_quotes("deploy") == "'deploy'");
}

TEST_CASE("JSON gets valid UTF-8 for any bytes") {
  CHECK(utf8("Grüße\n") == "Grüße\n");
  CHECK(utf8("a\xff"
             "b") ==
        "a\xef\xbf\xbd"
        "b");

  Dice dice{3};
  for (int round = 0; round < 2000; ++round) {
    const std::string once = utf8(dice.bytes(40));
    CHECK(utf8(once) == once);
  }
}

TEST_CASE("a count is decimal digits and nothing else") {
  CHECK(parse_count("0") == 0);
  CHECK(parse_count("6379") == 6379);
  CHECK(parse_count("007") == 7);
  CHECK(parse_count("9223372036854775807") == INT64_MAX);
  for (const char* text :
       {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "x", "9223372036854775808", "１"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_count(text));
  }
}

TEST_CASE("an integer is a count, perhaps with a minus sign") {
  CHECK(parse_integer("7") == 7);
  CHECK(parse_integer("-7") == -7);
  CHECK(parse_integer("-9223372036854775807") == -INT64_MAX);
  for (const char* text : {"", "-", "--1", "+1", "- 1", "-1.0", "-9223372036854775808"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_integer(text));
  }
}

TEST_CASE("join undoes split") {
  CHECK(split("a,b,,c", ',') == std::vector<std::string>{"a", "b", "", "c"});
  CHECK(split("", ',') == std::vector<std::string>{""});
  CHECK(split(",", ',') == std::vector<std::string>{"", ""});
  CHECK(joined({"a", "b"}, ", ") == "a, b");
  CHECK(joined({}, ", ") == "");

  Dice dice{4};
  for (int round = 0; round < 500; ++round) {
    const std::string text = dice.text("ab,", 12);
    CHECK(joined(split(text, ','), ",") == text);
  }
}

TEST_CASE("hexadecimal survives writing and reading") {
  CHECK(to_hex(std::string_view{"\x00\xff\x1b", 3}) == "00ff1b");
  CHECK(from_hex("00FF1b") == std::string{"\x00\xff\x1b", 3});
  for (const char* text : {"0", "0g", "0x", "-1", " 1", "+f"}) {
    CAPTURE(text);
    CHECK_FALSE(from_hex(text));
  }

  Dice dice{5};
  for (int round = 0; round < 500; ++round) {
    const std::string bytes = dice.bytes(20);
    CHECK(from_hex(to_hex(bytes)) == bytes);
  }
}

TEST_CASE("base64 is that of RFC 4648") {
  const std::vector<std::pair<std::string, std::string>> table{{"", ""},
                                                               {"f", "Zg=="},
                                                               {"fo", "Zm8="},
                                                               {"foo", "Zm9v"},
                                                               {"foob", "Zm9vYg=="},
                                                               {"fooba", "Zm9vYmE="},
                                                               {"foobar", "Zm9vYmFy"},
                                                               {"\xff\xfe\xfb", "//77"}};
  for (const auto& [bytes, text] : table) CHECK(to_base64(bytes) == text);
}

TEST_CASE("the reason of a system error begins with a small letter") {
  CHECK(errno_text(ENOENT) == "no such file or directory");
  CHECK(errno_text(ECONNRESET) == "connection reset by peer");
}

TEST_CASE("a text quoted for a shell is one word in bash and zsh, and that word is the text") {
  const std::vector<std::string> words{"deploy", "=ls",   "a=b",    "~",    "~root",    "-n",   "k b",
                                       "it's",   "$(id)", "`id`",   "!!",   "k*",       "[k]",  "{a,b}",
                                       "#k",     "^k^",   "%1",     "a\nb", "a\\nb",    "\x01", "\xff",
                                       "'",      "\"",    "a;b|c&", "<(x)", "\xc3\xbc", ""};
  std::string line = "printf '%s\\0'", bytes;
  for (const std::string& word : words) {
    line += " " + shell_quoted(word);
    bytes += word + '\0';
  }
  for (const std::string shell : {"bash", "zsh"}) {
    if (Process{{"sh", "-c", "command -v " + shell}}.exit_code() != 0) continue;
    CHECK(output_of({shell, "-c", line}) == bytes);
  }
}
