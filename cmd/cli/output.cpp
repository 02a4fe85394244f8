#include "cmd/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/redaction.h"
#include "base/text.h"
#include "base/time.h"
#include "base/write_all.h"
#include "loop/ending_signals.h"
#include "loop/signals.h"

namespace rlock {
namespace {

Json in_base64(const LockName& key) { return Json::word(to_base64(redacted(key.str()))); }

}  // namespace

int try_print(std::string_view text, const Patience& patience) noexcept {
  // If stdout was closed at our start, it is the placeholder of fill_std_descriptors(). Only the placeholder
  // has this flag.
  if ((::fcntl(STDOUT_FILENO, F_GETFD) & FD_CLOEXEC) != 0) return EBADF;
  return write_all(STDOUT_FILENO, text, patience);
}

void refuse_output(int error, std::string_view undone) {
  throw Error{Error::system, fmt::format("write error on stdout: {}{}", std::strerror(error), undone)};
}

Patience until_killed(int fd) {
  return {.until = kNever, .interrupted = [fd] {
            if (const int signal = EndingSignals{}.wait(fd, POLLOUT)) die_of(signal);
            return false;
          }};
}

void print(std::string_view text) {
  if (const int failed = try_print(text, until_killed(STDOUT_FILENO))) refuse_output(failed);
}

void print_line(std::string_view line) { print(std::string{line} + "\n"); }

void print_on_stderr(std::string_view text) noexcept {
  static_cast<void>(write_all(STDERR_FILENO, text, until_killed(STDERR_FILENO)));
}

Json::Json(std::string_view text) : Json(word(redacted(text))) {}

Json Json::word(std::string_view text) {
  Json json;
  const auto is_plain = [](char byte) { return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\'; };
  if (std::ranges::all_of(text, is_plain)) {
    json.text_ = "\"" + std::string{text} + "\"";
    return json;
  }
  // sync/watch/metadata_json.h uses this class too, and a second one would make the binary larger.
  using Writer = nlohmann::ordered_json;
  json.text_ = Writer(text).dump(-1, ' ', /*ensure_ascii=*/true, Writer::error_handler_t::replace);
  return json;
}

Json::Json(const LockName& key) : Json(key.str()) {
  if (utf8(key.str()) != key.str()) base64_ = in_base64(key).text_;
}

Json Json::object(const std::vector<std::pair<std::string_view, Json>>& fields) {
  Json json;
  json.text_ = "{";
  for (const auto& [name, value] : fields) {
    json.text_ += fmt::format("{}{}:{}", json.text_.size() > 1 ? "," : "", word(name).text_, value.text_);
    if (!value.base64_.empty()) json.text_ += fmt::format(",\"{}_base64\":{}", name, value.base64_);
  }
  json.text_ += "}";
  return json;
}

Json Json::array(const std::vector<Json>& items) {
  Json json;
  json.text_ = "[";
  for (const Json& item : items) json.text_ += (json.text_.size() > 1 ? "," : "") + item.text_;
  json.text_ += "]";
  return json;
}

Json Json::keys(const std::vector<LockName>& keys) {
  const std::vector<Json> items(keys.begin(), keys.end());
  Json json = array(items);
  if (std::ranges::all_of(items, [](const Json& item) { return item.base64_.empty(); })) return json;
  std::vector<Json> bytes;
  for (const LockName& key : keys) bytes.push_back(in_base64(key));
  json.base64_ = array(bytes).text_;
  return json;
}

}  // namespace rlock
