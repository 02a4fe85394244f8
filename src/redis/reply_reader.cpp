#include "redis/reply_reader.h"

#include <fmt/format.h>
#include <hiredis/read.h>

#include "base/error.h"
#include "base/text.h"

namespace rlock {

/// What hiredis' parser calls for each thing that it has read. Nothing here throws: there is C in between.
struct ReplyBuilder {
  using Task = redisReadTask;

  /// The place of the thing in the reply that is being built, or null where it is more than we take.
  static Reply* place(const Task* task, std::size_t bytes) noexcept {
    auto& budget = *static_cast<ReplyReader::Budget*>(task->privdata);
    if (task->parent == nullptr) budget = {.push = task->type == REDIS_REPLY_PUSH};
    ++budget.items;
    budget.bytes += bytes;
    if (budget.items > ReplyReader::kMostItems || budget.bytes > ReplyReader::kMostBytes) return nullptr;
    if (task->parent == nullptr) return new (std::nothrow) Reply;
    return &static_cast<Reply*>(task->parent->obj)->items_[static_cast<std::size_t>(task->idx)];
  }

  static void* text(const Task* task, char* bytes, std::size_t size) noexcept {
    Reply* reply = place(task, size);
    if (reply == nullptr) return nullptr;
    reply->kind_ = task->type == REDIS_REPLY_ERROR    ? Reply::Kind::error
                   : task->type == REDIS_REPLY_STATUS ? Reply::Kind::status
                                                      : Reply::Kind::text;
    const bool verbatim = task->type == REDIS_REPLY_VERB;  // "txt:" in front
    reply->text_.assign(bytes + (verbatim ? 4 : 0), size - (verbatim ? 4 : 0));
    return reply;
  }

  static void* list(const Task* task, std::size_t items) noexcept {
    int depth = 0;
    for (const Task* outer = task->parent; outer != nullptr; outer = outer->parent) ++depth;
    Reply* reply = place(task, 0);
    if (reply == nullptr || depth >= ReplyReader::kDeepest) return depth == 0 ? discard(reply) : nullptr;
    const auto& budget = *static_cast<ReplyReader::Budget*>(task->privdata);
    if (items > ReplyReader::kMostItems - budget.items) return depth == 0 ? discard(reply) : nullptr;
    reply->kind_ = Reply::Kind::array;
    reply->items_.resize(items);
    return reply;
  }

  static void* integer(const Task* task, long long number) noexcept {
    Reply* reply = place(task, 0);
    if (reply != nullptr) *reply = Reply{static_cast<std::int64_t>(number)};
    return reply;
  }

  static void* real(const Task* task, double, char* bytes, std::size_t size) noexcept {
    return text(task, bytes, size);
  }
  static void* nil(const Task* task) noexcept { return place(task, 0); }
  static void* boolean(const Task* task, int value) noexcept { return integer(task, value); }
  static void free(void* reply) noexcept { delete static_cast<Reply*>(reply); }

  static void* discard(Reply* root) noexcept {
    delete root;
    return nullptr;
  }

  static redisReplyObjectFunctions* functions() noexcept {
    static redisReplyObjectFunctions all{&text, &list, &integer, &real, &nil, &boolean, &free};
    return &all;
  }
};

namespace {

/// Who else may listen where Redis was expected.
std::string_view guess(std::string_view error) {
  if (error.find("got \"\\x15\"") != error.npos) return "; it looks like a TLS server: rediss://";
  if (error.find("got \"H\"") != error.npos) return "; it looks like a web server";
  return "";
}

}  // namespace

void ReplyReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

ReplyReader::ReplyReader() : reader_(redisReaderCreateWithFunctions(ReplyBuilder::functions())) {
  if (!reader_) throw Error{Error::system, "out of memory"};
  reader_->privdata = &budget_;
  reader_->maxelements = kMostItems;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) { redisReaderFeed(reader_.get(), bytes.data(), bytes.size()); }

std::optional<ReplyReader::Item> ReplyReader::next() {
  void* raw = nullptr;
  if (redisReaderGetReply(reader_.get(), &raw) != REDIS_OK) {
    if (reader_->err == REDIS_ERR_OOM)
      throw Error{Error::unreachable, "the server sends more than any answer needs"};
    throw Error{Error::unreachable, fmt::format("what answers there does not speak the Redis protocol ({}){}",
                                                sanitized(reader_->errstr), guess(reader_->errstr))};
  }
  if (raw == nullptr) {
    if (reader_->len - reader_->pos <= kMostBytes) return std::nullopt;
    throw Error{Error::unreachable, "the server sends more than any answer needs"};
  }
  const std::unique_ptr<Reply> reply{static_cast<Reply*>(raw)};
  return Item{std::move(*reply), budget_.push};
}

}  // namespace rlock
