#pragma once

#include <string>
#include <string_view>

#include "cmd/cli/options.h"
#include "cmd/hold/request/hold_request.h"

namespace rlock {

// The options that `run` and `lock acquire` share. Each declare_…() adds options that write into `request`.

/// Throws Error{usage} unless this descriptor, which the user named, is open for writing.
void expect_writable(int fd);

/// --reason, whose text is shown on one line.
void declare_reason(VerbSpec& spec, std::string& reason, std::string_view help,
                    std::string_view manual = "TEXT has at most 1024 bytes.");

/// --queue-limit, --newest and --fair-wait-timeout.
void declare_queue(VerbSpec& spec, HoldRequest& request);

/// --permits and --count, which imply --type permit.
void declare_permits(VerbSpec& spec, HoldRequest& request, const TakeType& take);

/// --signal and --kill-after.
void declare_signal(VerbSpec& spec, HoldRequest& request, std::string_view manual,
                    std::string_view kill_after);

/// --on-lost.
void declare_on_lost(VerbSpec& spec, HoldRequest& request, std::string_view help, std::string_view manual);

/// --reason and --label.
void declare_remarks(VerbSpec& spec, HoldRequest& request);

/// --sync-replicas and --sync-timeout.
void declare_sync_replicas(VerbSpec& spec, HoldRequest& request);

/// Parses a signal: "TERM", "SIGTERM", "15". Throws Error{usage}.
int parse_signal(std::string_view text);

/// --events and --syslog. `events`, `syslog`: their paragraphs in the manual page.
void declare_events(VerbSpec& spec, HoldRequest& request, std::string_view events, std::string_view syslog);

}  // namespace rlock
