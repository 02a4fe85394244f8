#include "redis/connection/reply_reader.h"

#include <fmt/format.h>
#include <hiredis/read.h>

#include <algorithm>
#include <new>

#include "base/error.h"
#include "base/text.h"

namespace rlock {

/// The functions that hiredis' parser calls for each element that it has read. They must not throw, because the
/// caller is C. They return null if the element exceeds a bound, or there is no memory.
struct ReplyBuilder {
  using Task = redisReadTask;

  static bool spend(const Task* task, std::size_t bytes) noexcept {
    auto& budget = static_cast<ReplyReader*>(task->privdata)->budget_;
    budget.exceeded = bytes > budget.left;
    if (!budget.exceeded) budget.left -= bytes;
    return !budget.exceeded;
  }

  /// The object for this element. An item of an array has its object already, and the array has paid for it.
  static Reply* place(const Task* task) noexcept {
    if (task->parent != nullptr)
      return &static_cast<Reply*>(task->parent->obj)->items_[static_cast<std::size_t>(task->idx)];
    auto& reader = *static_cast<ReplyReader*>(task->privdata);
    const bool push = task->type == REDIS_REPLY_PUSH;
    reader.budget_ = {.left = push ? ReplyReader::kMostBytes : reader.most_, .push = push};
    return spend(task, sizeof(Reply)) ? new (std::nothrow) Reply : nullptr;
  }

  /// Returns the object for hiredis, or null after a failure. After null, hiredis frees the root object, with all its
  /// items. But if the root itself failed, hiredis never got it, so it is deleted here.
  static void* done(const Task* task, Reply* reply, bool good) noexcept {
    if (good) return reply;
    if (task->parent == nullptr) delete reply;
    return nullptr;
  }

  static void* text(const Task* task, char* bytes, std::size_t size) noexcept {
    Reply* reply = place(task);
    if (reply == nullptr) return nullptr;
    reply->kind_ = task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                   : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                      : Reply::Kind::text;
    const std::size_t kind = task->type == REDIS_REPLY_VERB ? 4 : 0;  // "txt:" in front
    const bool good = spend(task, size) && grown([&] { reply->text_.assign(bytes + kind, size - kind); });
    return done(task, reply, good);
  }

  static void* list(const Task* task, std::size_t items) noexcept {
    int depth = 0;
    for (const Task* outer = task->parent; outer != nullptr; outer = outer->parent) ++depth;
    Reply* reply = place(task);
    if (reply == nullptr) return nullptr;
    reply->kind_ = Reply::Kind::array;
    const bool allowed = depth < ReplyReader::kDeepest && items <= ReplyReader::kMostItems;
    const bool good = spend(task, allowed ? items * sizeof(Reply) : SIZE_MAX) &&
                      grown([&] { reply->items_.resize(items); });
    return done(task, reply, good);
  }

  /// Returns false if there is no memory for it.
  template <class Grow>
  static bool grown(Grow&& grow) noexcept {
    try {
      grow();
      return true;
    } catch (const std::bad_alloc&) {  // hiredis is C: it sees the false
      return false;
    }
  }

  static void* integer(const Task* task, long long number) noexcept {
    Reply* reply = place(task);
    if (reply != nullptr) *reply = Reply{static_cast<std::int64_t>(number)};
    return reply;
  }

  static void* real(const Task* task, double, char* bytes, std::size_t size) noexcept {
    return text(task, bytes, size);
  }
  static void* nil(const Task* task) noexcept { return place(task); }
  static void* boolean(const Task* task, int value) noexcept { return integer(task, value); }
  static void free(void* reply) noexcept { delete static_cast<Reply*>(reply); }

  static redisReplyObjectFunctions* functions() noexcept {
    static redisReplyObjectFunctions all{&text, &list, &integer, &real, &nil, &boolean, &free};
    return &all;
  }
};

namespace {

/// More than the bytes around a text take: its length before it, and the line end behind it.
constexpr std::size_t kHeaders = 64;

/// A guess at another kind of server that may listen here.
std::string_view guess(std::string_view error) {
  if (error.find("got \"\\x15\"") != error.npos) return "; it looks like a TLS server: rediss://";
  if (error.find("got \"H\"") != error.npos) return "; it looks like a web server";
  return "";
}

}  // namespace

void ReplyReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

ReplyReader::ReplyReader() : reader_(redisReaderCreateWithFunctions(ReplyBuilder::functions())) {
  if (!reader_) throw Error{Error::system, "out of memory"};
  reader_->privdata = this;
  reader_->maxelements = kMostItems;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) { redisReaderFeed(reader_.get(), bytes.data(), bytes.size()); }

std::optional<ReplyReader::Item> ReplyReader::next(std::size_t most) {
  most_ = std::min(most, kMostBytes);
  void* raw = nullptr;
  if (redisReaderGetReply(reader_.get(), &raw) != REDIS_OK) {
    if (reader_->err == REDIS_ERR_OOM && !budget_.exceeded) throw std::bad_alloc{};
    if (reader_->err == REDIS_ERR_OOM)
      throw Error{Error::unreachable, "the server sends more than any answer needs"};
    throw Error{Error::unreachable,
                fmt::format("the program at this address does not speak the Redis protocol ({}){}",
                            sanitized(reader_->errstr), guess(reader_->errstr))};
  }
  if (raw == nullptr) {
    const std::size_t most_unread = budget_.push ? kMostBytes : most_;
    if (reader_->len - reader_->pos <= most_unread + kHeaders) return std::nullopt;
    throw Error{Error::unreachable, "the server sends more than any answer needs"};
  }
  const std::unique_ptr<Reply> reply{static_cast<Reply*>(raw)};
  return Item{std::move(*reply), budget_.push};
}

}  // namespace rlock
