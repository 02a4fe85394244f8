// The command of a run, with or without a lock: how it is started, and how rlock ends after it.

#include "cmd/run/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cli/exit_code.h"
#include "cmd/hold/report/hold_environment.h"
#include "cmd/run/command_lookup.h"
#include "process/program.h"

namespace rlock {
namespace {

using How = CommandOutcome::How;

}  // namespace

CommandOptions command_options(const RunContext& run, Variables variables,
                               const std::vector<std::string_view>& marks) {
  CommandOptions options;
  for (const auto& [name, value] : variables)
    if (std::ranges::find(marks, name) != marks.end())
      options.marks.push_back(name + "=" + value.value_or(""));
  std::ranges::copy(run.request.deployment.environment, std::back_inserter(variables));
  if (run.request.scrub_password) std::ranges::copy(without_passwords(), std::back_inserter(variables));
  options.command = {.argv = run.request.command,
                     .variables = std::move(variables),
                     .found = run.found,
                     .or_script = run.request.or_script};
  options.rules = run.request.stop;
  options.until_group = run.request.until_group;
  return options;
}

void say_why_it_did_not_start(const RunRequest& request, const CommandOutcome& ended) {
  if (ended.how != How::not_started) return;
  const std::string& program = request.command.front();
  const bool there = program.find('/') != std::string::npos && is_program(program);
  const std::string hint = ended.error == ENOEXEC  ? "; a script needs a first line like #!/bin/sh"
                           : ended.error != ENOENT ? ""
                           : there ? "; it is there, but the interpreter that its first line names is not"
                                   : if_it_is_for_a_shell(request.command);
  warn(fmt::format("cannot run {}: {}{}", in_quotes(program), std::strerror(ended.error), hint));
}

int exit_of(const RunRequest& request, const CommandOutcome& ended, Lost lost) {
  const int exit = exit_status(ended, lost);
  const bool refused = exit == exit_code::not_runnable || exit == exit_code::not_found;
  return refused && ended.how == How::not_started ? request.not_executed.value_or(exit) : exit;
}

int end_like(const RunRequest& request, const CommandOutcome& ended, Lost lost) {
  if (ended.how == How::interrupted) die_of(ended.signal);  // a shell loop around us must see the signal
  if (ended.pressed) share_with_group(*ended.pressed);
  if (request.die_of_its_signal && ended.how == How::killed && lost == Lost::no && !ended.max_hold &&
      !ended.stopped_by)
    die_of(ended.signal);
  return exit_of(request, ended, lost);
}

}  // namespace rlock
