#include "support/scenes.h"

#include <sys/stat.h>

#include <regex>
#include <sstream>
#include <stdexcept>

#include "support/cli.h"
#include "support/eventually.h"

namespace rlock::test {
namespace {

const Words kBash = {"bash", "--norc", "--noprofile", "--noediting", "-i"};
const Words kDash = {"dash", "-i"};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// What the user types for a step: a control character for ^C, ^Z, ^\ or ^D, and any other text with Enter
/// behind it. A scene must not press ^Z while /bin/sh (dash) starts a process. If the child is stopped before
/// exec, dash hangs in vfork(), and the shell above it waits for ever.
std::string keys(const std::string& step, const std::string& rlock) {
  if (step == "^C") return Pty::kInterrupt;
  if (step == "^Z") return Pty::kSuspend;
  if (step == "^\\") return Pty::kQuit;
  if (step == "^D") return Pty::kEnd;
  return replaced(step, "{}", rlock) + "\r";
}

/// The lines that begin with "= " (after a prompt or a visible key), without "= ".
std::string told(const std::string& screen) {
  std::istringstream lines{replaced(screen, "\r", "\n")};
  const std::regex line_told{R"(^(?:\$ |\^[CZ\\])*= (.*))"};
  std::string line, all;
  std::smatch match;
  while (std::getline(lines, line))
    if (std::regex_search(line, match, line_told)) all += match[1].str() + "; ";
  return all;
}

/// Waits for the prompt, and makes the shell print `what`. If the line were typed earlier, the ending command could
/// discard it when it changes the modes of the terminal.
std::string ask(Pty& shell, const std::string& what) {
  static int number = 0;
  const std::string tag = std::to_string(++number);
  eventually([&] { return shell.screen().ends_with("$ "); }, 10s);
  shell.type("echo \"A" + tag + ".[" + what + "]Z\"\r");
  std::smatch match;
  const std::regex answer{"A" + tag + "\\.\\[([^$\\]]*)\\]Z"};
  std::string screen;
  const bool came =
      eventually([&] { return screen = shell.screen(), std::regex_search(screen, match, answer); });
  if (!came) throw std::runtime_error{"the shell does not answer; the screen:\n" + screen};
  return match[1];
}

void step_through(Pty& terminal, const TerminalScene& scene, const std::string& rlock) {
  pid_t stopped = 0;
  for (const std::string& step : scene.steps) {
    if (step == "^Z") stopped = terminal.foreground();
    if (step.starts_with("< "))
      terminal.expect(step.substr(2));
    else
      terminal.type(keys(step, rlock));
    if (step == "< Stopped") terminal.expect_stopped(stopped);
  }
}

std::string played(const TerminalScene& scene, const std::string& rlock, const Process::Options& options) {
  const bool interactive = scene.shell.empty() || scene.shell.back() == "-i";
  Words shell = scene.shell.empty() ? kBash : scene.shell;
  for (std::string& word : shell) word = replaced(word, "{}", rlock);
  Pty terminal{shell, options};
  if (!interactive) {
    step_through(terminal, scene, rlock);
    const int status = terminal.exit_code();
    return told(terminal.screen()) + "status " + std::to_string(status);
  }
  const std::string modes = ask(terminal, "$(stty -g)");
  step_through(terminal, scene, rlock);
  std::string outcome = "status " + ask(terminal, "$?");
  outcome += ask(terminal, "$(stty -g)") == modes ? ", terminal as before" : ", terminal changed";
  outcome += terminal.foreground() == terminal.pid() ? "" : ", not in the foreground";
  outcome += ", " + ask(terminal, "$(jobs | wc -l)") + " jobs";
  return told(terminal.screen()) + outcome;
}

}  // namespace

std::string play(const TerminalScene& scene, const std::string& rlock, const Process::Options& options) {
  TempDir folder;
  std::string script;
  for (const std::string& line : scene.script) script += replaced(line, "{}", rlock) + "\n";
  write_file(folder / "script", script);
  // A FIFO into which no process writes. A shell can wait by reading it with a time limit, without a new process.
  if (::mkfifo((folder / "nothing").c_str(), 0600) != 0) throw std::runtime_error{"mkfifo fails"};
  Process::Options here = options;
  here.directory = folder.path();
  try {
    return played(scene, rlock, here);
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    return "hangs: " +
           (what.size() > 300 ? what.substr(0, 50) + " ... " + what.substr(what.size() - 250) : what);
  }
}

const std::vector<TerminalScene>& terminal_scenes() {  // NOLINT(readability-function-size): it is a table
  // A scene waits until the process of a killed job is gone, because a test cannot know whether `fg` still
  // finds the job. The scripts print "ready" as "re""ady", because the terminal also shows the typed line, in
  // which the scene must not find the word.
  static const std::string sleeper = R"({} sh -c 'echo re""ady; exec sleep 9')";
  static const std::string reader = R"({} sh -c 'echo re""ady; read x; echo "= got $x"')";
  static const std::string catcher =
      R"({} sh -c 'trap "echo = caught; exit 9" INT QUIT; echo re""ady; sleep 9 & wait')";
  static const std::string ticker =
      R"({} bash -c 'trap "echo ba""ck" CONT; echo re""ady; while :; do read -t 0.1 <>nothing; done')";
  // This command waits until the shell makes a file, because a test cannot know how long a stop takes. It starts
  // no process meanwhile. If a process is being forked when TSTP and CONT come, it may get its parent's TSTP and
  // not the CONT. Then it stays stopped, with or without rlock.
  static const std::string until_told = "until [ -e go ]; do read -t 0.1 <>nothing; done";
  static const std::string editor =
      R"({} vim -u NONE -N -c 'autocmd VimResume * echo "ba"."ck"' -c 'echo "re"."ady"')";
  static const std::string raw =
      R"({} bash -c 'trap "stty cbreak -echo; echo ba""ck" CONT; stty cbreak -echo; echo re""ady; )"
      R"(until read -rn1 -t1 x; do :; done; stty sane; echo = done')";
  static const std::vector<TerminalScene> scenes = {
      {"a status passes", {}, {}, {"{} sh -c 'exit 3'"}},
      {"keys reach the command", {}, {}, {reader, "< ready", "hello", "< got"}},
      {"^D ends its input",
       {},
       {},
       {R"({} sh -c 'echo re""ady; cat; echo = end')", "< ready", "^D", "< = end"}},
      {"^C ends it (bash)", {}, {}, {sleeper, "< ready", "^C"}},
      {"^C ends it (dash)", kDash, {}, {sleeper, "< ready", "^C"}},
      {"^\\ ends it", {}, {}, {"ulimit -c 0", sleeper, "< ready", "^\\"}},
      {"^C that is caught", {}, {}, {catcher, "< ready", "^C", "< = caught"}},
      {"^C arrives once",
       {},
       {},
       {R"({} bash -c 'trap "echo = int" INT; echo re""ady; for i in 1 2 3 4 5; do sleep 0.1; done')",
        "< ready", "^C"}},
      {"^C in a loop (bash)",
       {},
       {},
       {"for i in 1 2 3; do echo = $i; " + sleeper + "; done", "< ready", "^C"}},
      {"^C in a loop (dash)",
       kDash,
       {},
       {"for i in 1 2 3; do echo = $i; " + sleeper + "; done", "< ready", "^C"}},
      {"^C in a script's loop (bash)",
       {},
       {"for i in 1 2 3; do echo = $i", sleeper, "done", "echo = after"},
       {"bash script", "< ready", "^C"}},
      {"^C in a script's loop (dash)",
       {},
       {"for i in 1 2 3; do echo = $i", sleeper, "done", "echo = after"},
       {"dash script", "< ready", "^C"}},
      {"^C in a script with set -m",
       {},
       {"set -m", sleeper, "echo = after $?"},
       {"bash script", "< ready", "^C"}},
      {"^Z, jobs, fg (bash)",
       {},
       {},
       {reader, "< ready", "^Z", "< Stopped", R"(echo "= $(jobs | wc -l) stopped")", "fg", "hello", "< got"}},
      {"^Z, jobs, fg (dash)",
       kDash,
       {},
       {reader, "< ready", "^Z", "< Stopped", R"(echo "= $(jobs | wc -l) stopped")", "fg", "hello", "< got"}},
      {"^Z, bg",
       {},
       {},
       {R"({} bash -c 'echo re""ady; )" + until_told + "; echo = done'", "< ready", "^Z", "< Stopped",
        "touch go; bg", "< = done", "wait"}},
      {"^Z twice, then ^C",
       {},
       {},
       {ticker, "< ready", "^Z", "< Stopped", "fg", "< back", "^Z", "< Stopped", "fg", "< back", "^C"}},
      {"^Z in a loop, kill",
       {},
       {},
       {"for i in 1 2; do echo = $i; " + sleeper + "; done", "< ready", "^Z", "< Stopped",
        "p=$(jobs -p %1); kill %1; while kill -0 $p 2>/dev/null; do :; done; wait $p"}},
      {"^Z of a script (dash)",
       {},
       {reader, "echo = after"},
       {"dash script", "< ready", "^Z", "< Stopped", "fg", "hello", "< after"}},
      {"into less", {}, {}, {"{} seq 3000 | LESS=-d less", "< 49", "q"}},
      {"from a pipe", {}, {}, {R"(seq 3 | {} sh -c 'read x; echo "= $x"')"}},
      {"a program that takes keys, from a pipe", {}, {}, {"seq 3000 | {} env LESS=-d less", "< 49", "q"}},
      {"^C in a pipeline", {}, {}, {sleeper + " | cat", "< ready", "^C"}},
      {"^Z, fg in a pipeline",
       {},
       {},
       {R"({} bash -c 'echo re""ady; )" + until_told + "; echo = done' | cat", "< ready", "^Z", "< Stopped",
        "touch go; fg", "< = done"}},
      {"a substitution", {}, {}, {R"(x=$({} sh -c 'echo out; exit 4'); echo "= $? $x")"}},
      {"a substitution that asks",
       {},
       {},
       {R"(x=$({} sh -c 'echo re""ady >/dev/tty; read y </dev/tty; echo $y'); echo "= $x")", "< ready",
        "hello", "< = hello"}},
      {"a substitution that asks for a secret (dash)",
       kDash,
       {},
       {R"(x=$({} sh -c 'stty -echo </dev/tty; echo re""ady >/dev/tty; read y </dev/tty; stty echo </dev/tty; echo $y'); echo "= $x")",
        "< ready", "hello", "< = hello"}},
      {"^C in a substitution",
       {},
       {},
       {R"(x=$({} sh -c 'echo re""ady >/dev/tty; exec sleep 9'); echo = after)", "< ready", "^C"}},
      {"^C with xargs -P3",
       {},
       {},
       {R"(seq 3 | xargs -P3 -I@ bash -c '{} sh -c "echo re\"\"ady@; exec sleep 9"')", "< ready", "< ready",
        "< ready", "^C"}},
      {"a substitution that asks, in a script with set -m",
       {},
       {"set -m", R"(x=$({} sh -c 'echo re""ady >/dev/tty; read y </dev/tty; echo $y'))", R"(echo "= $x")"},
       {"bash script", "< ready", "hello", "< = hello"}},
      {"a substitution that asks, in a script of dash",
       {},
       {R"(x=$({} sh -c 'echo re""ady >/dev/tty; read y </dev/tty; echo $y'))", R"(echo "= $x")"},
       {"dash script", "< ready", "hello", "< = hello"}},
      {"into less, in a script with set -m",
       {},
       {"set -m", "{} seq 3000 | LESS=-d less", "echo = after $?"},
       {"bash script", "< 49", "q"}},
      {"into less (dash)", kDash, {}, {"{} seq 3000 | LESS=-d less", "< 49", "q"}},
      {"^C with xargs -P3 (dash)",
       kDash,
       {},
       {R"(seq 3 | xargs -P3 -I@ bash -c '{} sh -c "echo re\"\"ady@; exec sleep 9"')", "< ready", "< ready",
        "< ready", "^C"}},
      {"^Z, fg with xargs -P3",
       {},
       {},
       {R"(seq 3 | xargs -P3 -I@ bash -c '{} bash -c "echo re\"\"ady; )" + until_told +
            R"(; echo fin\"\"ished"')",
        "< ready", "< ready", "< ready", "^Z", "< Stopped", "touch go; fg", "< finished", "< finished",
        "< finished"}},
      {"^Z in a script with set -m, fg",
       {},
       {"set -m", reader, "echo = after $?; jobs | wc -l; fg"},
       {"bash script", "< ready", "^Z", "< after", "hello", "< got"}},
      {"raw mode that is left on purpose", {}, {}, {R"({} stty -echo; {} stty echo)"}},
      {"raw mode, killed", {}, {}, {R"({} sh -c 'stty raw -echo; echo re""ady; kill -9 $$')", "< ready"}},
      {"an editor", {}, {}, {editor, "< ready", ":q!"}},
      {"an editor, ^Z and back", {}, {}, {editor, "< ready", "^Z", "< Stopped", "fg", "< back", ":q!"}},
      {"a raw-mode program, ^Z and back",
       {},
       {},
       {raw, "< ready", "^Z", "< Stopped", "fg", "< back", "x", "< = done"}},
      {"a shell in a shell",
       {},
       {},
       {"{} bash --norc --noediting -i", R"(sh -c 'echo re""ady; exec sleep 9')", "< ready", "^C",
        "echo = $?", "exit 5"}},
      {"in the background, then fg",
       {},
       {},
       {R"({} sh -c 'echo re""ady; sleep 0.2; read x; echo "= got $x"' &)", "< ready", "fg", "hello",
        "< got"}},
      {"in the background, ^C passes it by",
       {},
       {},
       {R"({} bash -c 'echo re""ady; )" + until_told + "; echo = done' &", "< ready", "^C", "< ^C\r\n$ ",
        "touch go; wait", "< = done"}},
      {"stop by kill, as a job",
       {},
       {},
       {R"({} bash -c 'echo re""ady; )" + until_told + "; echo = done' &", "< ready", "kill -TSTP %1",
        "until jobs -s | grep -q .; do sleep 0.1; done; echo = stopped", "touch go; fg", "< = done"}},
      {"a terminal that stops writers in the background (tostop)",
       {},
       {},
       {"stty tostop", R"({} sh -c 'echo = out; read x; echo "= $x"')", "hello", "stty -tostop"}},
      {"stdin is the terminal, stdout a file",
       {},
       {},
       {R"({} sh -c 'read x; echo "= $x"' >file)", "hello", "cat file"}},
      {"without a shell (ssh -t): keys",
       {"sh", "-c", R"(exec {} sh -c 'echo re""ady; read x; echo "= $x"')"},
       {},
       {"< ready", "hello"}},
      {"without a shell (ssh -t): ^Z stops nothing",
       {"sh", "-c", R"(exec {} sh -c 'echo re""ady; read x; echo "= $x"')"},
       {},
       {"< ready", "^Z", "hello"}},
      {"without a shell (ssh -t): ^C",
       {"sh", "-c", R"(exec {} sh -c 'echo re""ady; exec sleep 9')"},
       {},
       {"< ready", "^C"}},
  };
  return scenes;
}

}  // namespace rlock::test
