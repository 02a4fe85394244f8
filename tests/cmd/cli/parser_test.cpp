#include "cmd/cli/parser.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "cmd/cli/help.h"
#include "cmd/cli/suggest.h"
#include "support/contains.h"
#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// A verb with one option of each kind.
struct Sample {
  bool quiet = false;
  bool nonblock = false;
  std::string code = "75", wait;
  Words keys, operands;

  VerbSpec told(bool command_follows = true) {
    VerbSpec told{.verb = "try", .usage = {"try [OPTIONS] KEY N"}, .about = "Try."};
    told.add({.names = "-q, --quiet", .help = "say nothing", .set = into(quiet)});
    told.add({.names = "-n, --nonblock", .help = "do not wait", .set = into(nonblock)});
    told.add({.names = "-E, --conflict-exit-code",
              .value = "N",
              .help = "when busy",
              .standard = "75",
              .set = into(code)});
    told.add({.names = "-w, --wait", .value = "DUR", .help = "at most this long", .set = into(wait)});
    told.add({.names = "-k, --key", .value = "KEY", .help = "what", .set = [this](std::string_view value) {
                if (value.empty()) throw Error{Error::usage, "a key has at least one byte"};
                keys.emplace_back(value);
              }});
    told.other_tools.push_back({"--timeout", "did you mean --wait?"});
    told.command_follows = command_follows;
    return told;
  }

  Parsed parse(const Words& words) {
    const VerbSpec declaration = told();
    return rlock::parse(declaration, words);
  }

  std::string refusal(const Words& words) {
    try {
      static_cast<void>(parse(words));
    } catch (const Error& error) {
      CHECK(error.kind() == Error::usage);
      CHECK_FALSE(contains(error.what(), "\n"));
      return error.what();
    }
    return "";
  }
};

/// A verb with operands, such as `rlock sem init KEY N`.
struct Operands {
  std::string key, count;
  Words ids;

  std::string parse(const Words& words, bool many = false) {
    VerbSpec told{.verb = "try", .usage = {"try KEY N"}};
    told.add({.names = "-k, --key", .value = "KEY", .hidden = true, .set = into(key)});
    told.operands.push_back({.name = "KEY", .instead = "key", .set = into(key)});
    if (many) {
      told.operands.push_back(
          {.name = "ID", .many = true, .set = [this](std::string_view id) { ids.emplace_back(id); }});
    } else {
      told.operands.push_back({.name = "N", .set = into(count)});
    }
    try {
      static_cast<void>(rlock::parse(told, words));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE("options are read in every form in which people type them") {
  SUBCASE("bundled, with the value attached") {
    Sample sample;
    CHECK(sample.parse({"-nqE0", "--", "true"}).command == Words{"true"});
    CHECK(sample.nonblock);
    CHECK(sample.quiet);
    CHECK(sample.code == "0");
  }
  SUBCASE("-w10 and -w 10") {
    for (const Words& words : {Words{"-w10", "true"}, Words{"-w", "10", "true"}, Words{"--wait=10", "true"},
                               Words{"--wait", "10", "true"}}) {
      Sample sample;
      CHECK(sample.parse(words).command == Words{"true"});
      CHECK(sample.wait == "10");
    }
  }
  SUBCASE("an empty value behind an equals sign is a value") {
    Sample sample;
    sample.wait = "x";
    static_cast<void>(sample.parse({"--wait=", "true"}));
    CHECK(sample.wait.empty());
  }
}

TEST_CASE("the last of a repeated option counts, and lists grow") {
  Sample sample;
  static_cast<void>(sample.parse({"-w", "1", "-k", "a", "--wait=2", "--key", "b", "true"}));
  CHECK(sample.wait == "2");
  CHECK(sample.keys == Words{"a", "b"});
}

TEST_CASE("options end where the command begins") {
  Sample sample;
  CHECK(sample.parse({"-k", "k", "ls", "-l", "--wait", "9"}).command == Words{"ls", "-l", "--wait", "9"});
  CHECK(sample.wait.empty());

  CHECK(Sample{}.parse({"-k", "k", "--", "-odd", "--", ""}).command == Words{"-odd", "--", ""});
  CHECK(Sample{}.parse({"-k", "k", "--"}).command.empty());
  CHECK(Sample{}.parse({"-k", "k", "-", "x"}).command == Words{"-", "x"});
  CHECK(Sample{}.parse({"-q", "try", "[a,b]", "++", "-h"}).command == Words{"try", "[a,b]", "++", "-h"});
}

TEST_CASE("a value is taken unchanged, even if it looks like an option") {
  for (const std::string key :
       {"-x", "--", "--quiet", "[a,b]", "++", "-5", "\"x\"", " ", "a\nb", "\xFF", "a=b"}) {
    Sample sample;
    static_cast<void>(sample.parse({"--key=" + key, "-k" + key, "true"}));
    if (!key.starts_with("-")) static_cast<void>(sample.parse({"-k", key, "--key", key, "true"}));
    CHECK(sample.keys == Words(key.starts_with("-") ? 2 : 4, key));
  }
}

TEST_CASE("an option of ours is no value, unless it stands behind an equals sign") {
  CHECK(Sample{}.refusal({"-w", "-n", "true"}) == "-w needs DUR, but '-n' follows");
  CHECK(Sample{}.refusal({"--wait", "--quiet", "true"}) == "--wait needs DUR, but '--quiet' follows");
  CHECK(Sample{}.refusal({"-nw", "-qn", "true"}) == "-w needs DUR, but '-qn' follows");
  CHECK(Sample{}.refusal({"-w", "-E0", "true"}) == "-w needs DUR, but '-E0' follows");
  CHECK(Sample{}.refusal({"-w", "--", "true"}) == "-w needs DUR, but '--' follows");
  Sample sample;
  for (const std::string value : {"-5", "-x", "-n n", "--quie"}) {
    static_cast<void>(sample.parse({"-w", value, "true"}));
    CHECK(sample.wait == value);
  }
  static_cast<void>(sample.parse({"--wait=--quiet", "true"}));
  CHECK(sample.wait == "--quiet");
}

TEST_CASE("an option with an optional value takes one only behind an equals sign") {
  Words seen;
  Sample sample;
  VerbSpec spec = sample.told();
  spec.add({.names = "--export",
            .value = "SHELL",
            .alone = "sh",
            .help = "print",
            .set = [&](std::string_view text) { seen.emplace_back(text); }});
  const Parsed parsed =
      rlock::parse(spec, {"--export", "--export=fish", "-w", "5s", "--export", "--export=", "fish", "x"});
  CHECK(seen == Words{"sh", "fish", "sh", ""});
  CHECK(parsed.command == Words{"fish", "x"});
  CHECK(sample.wait == "5s");
  CHECK(options_at_front(spec, {"--export", "fish"}) == 1);
  CHECK(contains(help_screen(spec), "      --export[=SHELL]"));
}

TEST_CASE("the options at the front are counted") {
  const auto count = [](const Words& words) {
    Sample sample;
    const VerbSpec declaration = sample.told();
    return options_at_front(declaration, words);
  };
  CHECK(count({}) == 0);
  CHECK(count({"run", "-q"}) == 0);
  CHECK(count({"-q", "-w", "1", "--wait=1", "-nw1", "run", "-q"}) == 5);
  CHECK(count({"-q", "-Z", "run"}) == 1);
  CHECK(count({"-w"}) == 1);
  CHECK(count({"--help", "run"}) == 1);
  CHECK(count({"-", "run"}) == 0);
  CHECK(count({"--", "run"}) == 0);
}

TEST_CASE("a typographic dash in front of an option gets a hint") {
  CHECK(Sample{}.refusal({"\u2013n", "true"}) ==
        "'\u2013n': this dash is not '-' (was it copied from a text?); did you mean -n?");
  CHECK(Sample{}.refusal({"\u2014wait=3", "true"}).ends_with("did you mean --wait=3?"));
  CHECK(Sample{}.refusal({"\u2014-wait", "3", "true"}).ends_with("did you mean --wait?"));
  CHECK(Sample{}.refusal({"-n", "\u2212nqE0", "true"}).ends_with("did you mean -nqE0?"));
  CHECK(Sample{}.parse({"-n", "--", "\u2013n"}).command == Words{"\u2013n"});
  CHECK(Sample{}.parse({"-k", "\u2013n", "true"}).command == Words{"true"});
  CHECK(Sample{}.parse({"\u2013z"}).command == Words{"\u2013z"});
}

TEST_CASE("an impossible value is refused in one line that names the option") {
  CHECK(Sample{}.refusal({"-w"}) == "-w needs DUR");
  CHECK(Sample{}.refusal({"--wait"}) == "--wait needs DUR");
  CHECK(Sample{}.refusal({"-nw"}) == "-w needs DUR");
  CHECK(Sample{}.refusal({"--quiet=yes"}) == "--quiet takes no value");
  CHECK(Sample{}.refusal({"--help=yes"}) == "--help takes no value");
  CHECK(Sample{}.refusal({"--key", ""}) == "--key: a key has at least one byte");
  CHECK(Sample{}.refusal({"-k", "", "--", "x"}) == "-k: a key has at least one byte");
}

TEST_CASE("the first refused word is reported, and the words behind it still count") {
  Sample sample;
  CHECK(sample.refusal({"-k", "", "--quiet=yes", "-w", "3", "-n=x"}) == "-k: a key has at least one byte");
  CHECK(sample.wait == "3");
  CHECK(Sample{}.refusal({"--quiet=yes", "-k="}) == "--quiet takes no value");
}

TEST_CASE("an unknown option gets a suggestion") {
  CHECK(Sample{}.refusal({"--qiuet"}) == "unknown option --qiuet; did you mean --quiet?");
  CHECK(Sample{}.refusal({"--conflict"}) == "unknown option --conflict; did you mean --conflict-exit-code?");
  CHECK(Sample{}.refusal({"--wait-for=3"}) == "unknown option --wait-for; did you mean --wait?");
  CHECK(Sample{}.refusal({"--zzzzzzzz"}) == "unknown option --zzzzzzzz; see rlock try --help");
  CHECK(Sample{}.refusal({"-nZ"}) == "unknown option -Z; see rlock try --help");
  CHECK(Sample{}.refusal({"-Zw", "-kx"}) == "unknown option -Z; see rlock try --help");
  CHECK(Sample{}.refusal({"--w"}) == "unknown option --w; see rlock try --help");
  CHECK(Sample{}.refusal({"--timeout", "3"}) == "--timeout: did you mean --wait?");
  CHECK(Sample{}.refusal({"--timeout=3"}) == "--timeout: did you mean --wait?");
  CHECK(Sample{}.refusal({"--\x1b[31m"}) == "unknown option --\\x1b[31m; see rlock try --help");
}

TEST_CASE("--help and --version count wherever they stand before the command") {
  CHECK(Sample{}.parse({"--help"}).action == Parsed::Action::help);
  CHECK(Sample{}.parse({"-n", "-h"}).action == Parsed::Action::help);
  CHECK(Sample{}.parse({"-nh"}).action == Parsed::Action::help);
  CHECK(Sample{}.parse({"-V"}).action == Parsed::Action::version);
  CHECK(Sample{}.parse({"-k", "k", "--version", "--", "x"}).action == Parsed::Action::version);
  CHECK(Sample{}.parse({"-k", "k", "x", "--help"}).action == Parsed::Action::act);
}

TEST_CASE("an option of another tool with an h in it is no call for help") {
  CHECK(Sample{}.refusal({"-http-addr=http://c:8500", "-k", "k", "--", "x"}) ==
        "unknown option -http-addr; -h (--help) stands alone");
  CHECK(Sample{}.refusal({"-nhx", "-k", "k", "--", "x"}) == "unknown option -nhx; -h (--help) stands alone");
  CHECK(Sample{}.refusal({"-timeout", "5s", "-k", "k", "--", "x"}) == "-timeout: did you mean --wait?");
  CHECK(Sample{}.parse({"-help"}).action == Parsed::Action::help);
  CHECK(Sample{}.refusal({"-h=x", "-k", "k", "--", "x"}) == "-h takes no value");
  CHECK(Sample{}.refusal({"-n=3", "-k", "k", "--", "x"}) == "-n takes no value");
}

TEST_CASE("-h with a host behind it gets the hint that this is an option of redis-cli") {
  Sample sample;
  VerbSpec declaration = sample.told();
  const Words words{"-h", "db.example", "-k", "k"};
  CHECK(parse(declaration, words).action == Parsed::Action::help);  // this verb has no option for a server
  declaration.add({.names = "-u, --url", .value = "URL", .set = [](std::string_view) {}});
  std::string refusal;
  try {
    static_cast<void>(parse(declaration, words));
  } catch (const Error& error) {
    refusal = error.what();
  }
  CHECK(refusal == "-h is --help; for a server say --url redis://db.example");
}

TEST_CASE("a letter option with = behind it is refused, because the value would begin with =") {
  CHECK(Sample{}.refusal({"-k=deploy", "x"}) == "-k takes its value without '=': -k KEY, or --key=KEY");
  CHECK(Sample{}.refusal({"-nw=3", "x"}) == "-w takes its value without '=': -w DUR, or --wait=DUR");
  Sample sample;
  static_cast<void>(sample.parse({"-ka=b", "-k", "=c", "--key==d", "x", "-k=e"}));
  CHECK(sample.keys == Words{"a=b", "=c", "=d"});
}

TEST_CASE("operands come in order, and --key may stand for the first") {
  Operands plain;
  CHECK(plain.parse({"slots", "3"}).empty());
  CHECK(plain.key == "slots");
  CHECK(plain.count == "3");

  Operands by_option;
  CHECK(by_option.parse({"3", "-k", "slots"}).empty());
  CHECK(by_option.key == "slots");
  CHECK(by_option.count == "3");

  Operands many;
  CHECK(many.parse({"slots", "a", "--", "-b"}, true).empty());
  CHECK(many.ids == Words{"a", "-b"});

  CHECK(Operands{}.parse({}) == "KEY is missing: rlock try KEY N");
  CHECK(Operands{}.parse({"slots"}) == "N is missing: rlock try KEY N");
  CHECK(Operands{}.parse({"slots", "3", "x"}) == "'x' is one word too many: rlock try KEY N");
  CHECK(Operands{}.parse({"slots"}, true) == "ID is missing: rlock try KEY N");
}

TEST_CASE("only similar words are suggested") {
  CHECK(nearest("insepct", {"inspect", "unlock"}) == "inspect");
  CHECK(nearest("insp", {"inspect", "unlock"}) == "inspect");
  CHECK(nearest("xyz", {"inspect", "unlock"}) == std::nullopt);
  CHECK(nearest("", {"inspect"}) == std::nullopt);
  CHECK(nearest(std::string(100'000, 'x'), {"inspect"}) == std::nullopt);
}

TEST_CASE("a help screen shows each option as it was declared") {
  Sample sample;
  const std::string screen = help_screen(sample.told());
  CHECK(screen ==
        "Usage: rlock try [OPTIONS] KEY N\n"
        "Try.\n"
        "\n"
        "Options\n"
        "  -q, --quiet               say nothing\n"
        "  -n, --nonblock            do not wait\n"
        "  -E, --conflict-exit-code N  when busy                                     [75]\n"
        "  -w, --wait DUR            at most this long\n"
        "  -k, --key KEY             what\n");
}
