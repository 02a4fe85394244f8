// Reads processes in /proc. A process may fork or end at any moment, so an answer is true only for the moment of the
// call.

#include "process/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/descriptor.h"
#include "base/text.h"

namespace rlock {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

/// How many files of /proc were not read so far (see unread_files()). A global, because all searches of this process
/// share its descriptors.
int unread = 0;

/// Call it after open(2) has failed.
void count_unread() noexcept {
  if (is_shortage(errno)) ++unread;
}

/// The names in a folder that are numbers.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, CloseDirectory> open{::opendir(folder.c_str())};
  if (!open) {
    count_unread();
    return numbers;
  }
  while (const dirent* entry = ::readdir(open.get())) {
    if (const auto number = parse_count(entry->d_name)) numbers.push_back(static_cast<pid_t>(*number));
  }
  return numbers;
}

std::string proc_path(pid_t pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string{file};
}

/// exec accepts at most 6 MiB of arguments and environment. But a process can make the kernel show all of its
/// memory as its environment. To read that must not exhaust our memory.
constexpr std::size_t kLongestFile = std::size_t{8} << 20;

/// The contents of a file; empty if it cannot be opened.
std::optional<std::string> contents_of(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) {
    count_unread();
    return std::nullopt;
  }
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while (text.size() < kLongestFile && (got = ::read(file.number(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

/// Appends the numbers in a text such as "12 13 14 ".
void append_numbers(std::string_view text, std::vector<pid_t>& numbers) {
  pid_t number = 0;
  for (const char c : text) {
    const bool digit = is_digit(c);
    if (!digit && number > 0) numbers.push_back(std::exchange(number, 0));
    if (digit) number = number * 10 + (c - '0');
  }
  if (number > 0) numbers.push_back(number);
}

/// The children that the kernel lists. Empty if the kernel was built without CONFIG_PROC_CHILDREN, or the
/// process has ended.
std::optional<std::vector<pid_t>> listed_children(const ProcessFacts& parent) {
  std::vector<pid_t> children;
  // Each thread has its own children.
  const std::vector<pid_t> threads = parent.threads > 1 ? threads_of(parent.pid) : std::vector{parent.pid};
  bool listed = false;
  for (const pid_t thread : threads) {
    const auto text = contents_of(proc_path(parent.pid, "task/" + std::to_string(thread) + "/children"));
    listed = listed || text.has_value();
    if (text) append_numbers(*text, children);
  }
  if (!listed) return std::nullopt;
  return children;
}

std::multimap<pid_t, pid_t> children_of_all() {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : all_processes())
    if (const auto facts = facts_of(pid)) children.emplace(facts->parent, pid);
  return children;
}

}  // namespace

std::optional<ProcessFacts> facts_of(pid_t pid) {
  const std::optional<ProcessFacts> facts = stat_of(pid);
  if (!facts) count_unread();
  return facts;
}

bool is_alive(pid_t pid) {
  const auto facts = facts_of(pid);
  return facts && facts->alive();
}

std::vector<pid_t> all_processes() { return proc_shows_us() ? numbers_in("/proc") : std::vector<pid_t>{}; }

std::vector<pid_t> threads_of(pid_t pid) { return numbers_in(proc_path(pid, "task")); }

pid_t newest_process() {
  const std::string load = contents_of("/proc/loadavg").value_or("");
  return std::atoi(load.c_str() + load.rfind(' ') + 1);
}

bool proc_shows_us() {
  char self[16];
  const ssize_t size = ::readlink("/proc/self", self, sizeof self);
  const bool ours =
      size > 0 && std::string_view{self, static_cast<std::size_t>(size)} == std::to_string(::getpid());
  return ours && contents_of("/proc/self/stat");
}

int unread_files() noexcept { return unread; }

bool proc_hides_others() {
  // Process 1 always exists. In a container it may belong to us and be shown, so the mount options count too.
  if (::access("/proc/1/stat", R_OK) != 0) return true;
  if (::geteuid() == 0) return false;
  const std::string mounts = contents_of("/proc/self/mountinfo").value_or("");
  for (const std::string& mount : split(mounts, '\n')) {
    const std::vector<std::string> words = split(mount, ' ');
    constexpr std::size_t kMountPoint = 4;
    if (words.size() <= kMountPoint || words[kMountPoint] != "/proc") continue;
    const auto option = mount.find("hidepid=");
    if (option == std::string::npos) continue;
    const std::string value = mount.substr(option + 8);
    if (!value.starts_with("0") && !value.starts_with("off")) return true;
  }
  return false;
}

std::optional<std::string> proc_text(pid_t pid, const char* file) {
  return contents_of(proc_path(pid, file));
}

std::vector<pid_t> Parentage::children_of(const ProcessFacts& parent) {
  if (!children_) {
    if (auto listed = listed_children(parent)) return *std::move(listed);
    // Either the process has just ended, or this kernel lists no children.
    if (listed_children(ProcessFacts{.pid = ::getpid(), .threads = 1})) return {};
    children_ = children_of_all();
  }
  std::vector<pid_t> children;
  const auto [first, last] = children_->equal_range(parent.pid);
  for (auto child = first; child != last; ++child) children.push_back(child->second);
  return children;
}

int why_no_signal(pid_t pid) noexcept { return ::kill(pid, 0) == 0 ? 0 : errno; }

}  // namespace rlock
