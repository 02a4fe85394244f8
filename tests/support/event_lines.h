#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "support/full_pipe.h"
#include "support/process.h"

namespace rlock::test {

/// The value of "name": the text up to the next comma or brace.
inline std::string field(const std::string& line, const std::string& name) {
  const std::string begin = "\"" + name + "\":";
  const auto at = line.find(begin);
  if (at == std::string::npos) return "";
  const auto from = at + begin.size();
  return line.substr(from, line.find_first_of(",}", from) - from);
}

inline std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines = split(read_file(file), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The events' names, such as "waiting acquired released".
inline std::string events_in(const std::string& file) {
  std::vector<std::string> words;
  for (const std::string& line : lines_of(file)) {
    const std::string word = field(line, "event");
    words.push_back(word.size() > 2 ? word.substr(1, word.size() - 2) : line);
  }
  return joined(words, " ");
}

/// A named pipe that is open, but that no process reads.
class UnreadPipe {
 public:
  explicit UnreadPipe(std::string path) : path_(std::move(path)) {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    fd_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(fd_ >= 0);
  }
  ~UnreadPipe() { ::close(fd_); }
  UnreadPipe(const UnreadPipe&) = delete;
  UnreadPipe& operator=(const UnreadPipe&) = delete;

  const std::string& path() const { return path_; }
  void fill() const { fill_pipe(fd_); }

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace rlock::test
