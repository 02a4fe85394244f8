// Replies of a server: the bytes become replies, and every reader of script replies reads each of them.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cmd/hold/request/lock_types.h"
#include "fuzz/must.h"
#include "fuzz/properties.h"
#include "redis/connection/pipeline.h"
#include "redis/connection/reply_reader.h"
#include "sync/calls/answers.h"
#include "sync/calls/kind.h"
#include "sync/records/history.h"
#include "sync/watch/inspect.h"
#include "sync/watch/listeners.h"

namespace rlock::test {
namespace {

std::string described(const Reply& reply) {
  if (reply.kind() != Reply::Kind::array)
    return fmt::format("{}:{}", static_cast<int>(reply.kind()), reply.is_nil() ? "" : reply.text());
  std::string text = "[";
  for (const Reply& item : reply.items()) text += described(item) + ",";
  return text + "]";
}

/// All replies in `bytes`, which arrive in pieces of `size`; the last text says how they end.
std::vector<std::string> read_in_pieces(std::string_view bytes, std::size_t size) {
  std::vector<std::string> found;
  ReplyReader reader;
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
      reader.feed(bytes.substr(0, size));
      while (const auto item = reader.next())
        found.push_back((item->push ? "push " : "") + described(item->reply));
    }
  } catch (const Error& error) {
    must(error.kind() == Error::unreachable, "what is not the protocol is no server");
    must(harmless(error.what()), "a complaint about a server is harmless");
    found.emplace_back("and no more");
  }
  return found;
}

/// Fails unless `read` returns a value or throws an Error.
template <class Read>
void try_to(Read&& read) {
  try {
    read();
  } catch (const Error& error) {
    must(harmless(error.what()), "a complaint about a reply is harmless");
  }
}

const std::vector<std::unique_ptr<Lockable>>& one_of_each_type() {
  static const auto all = [] {
    std::vector<std::unique_ptr<Lockable>> locks;
    const Claim claim{.name = LockName{"k"}, .owner = Owner{"me:1"}};
    for (const LockType& type : lock_types()) {
      LockSpec spec;
      spec.claim = claim;
      if (type.kind == &kinds::permit) spec.options.permits = 2;
      locks.push_back(type.make(spec));
    }
    return locks;
  }();
  return all;
}

void read_as_everything(const Reply& reply) {
  for (const auto& lock : one_of_each_type()) {
    const AcquireAnswer attempt = lock->read(reply);
    if (const auto* refused = std::get_if<Refused>(&attempt))
      must(harmless(refused->text), "a refusal is harmless");
    static_cast<void>(lock->read_renewal(reply));
    static_cast<void>(lock->read_release(reply));
  }
  const LockName name{"k"};
  try_to([&] { static_cast<void>(decode_forced(name, "a lock", reply)); });
  try_to([&] {
    const KnownFacts known = read_facts(reply);
    static_cast<void>(read_inspection(name, known, reply));
  });
  try_to([&] { static_cast<void>(read_inspection(name, {}, reply)); });
  try_to([&] { static_cast<void>(read_history(reply)); });
  try_to([&] { static_cast<void>(read_listeners(reply)); });
  try_to([&] { static_cast<void>(read_names(reply)); });
}

/// Answers a connection whose greeting, call and subscription wait for their replies.
void answer_a_connection(std::string_view bytes, bool resp3) {
  Pipeline pipeline{resp3};
  pipeline.greet({{"HELLO", "3"}});
  pipeline.open();
  const auto& lock = *one_of_each_type().front();
  const auto call = pipeline.send(lock.ask(), {.followers = {lock.renew()}});
  pipeline.subscribe({.channel = Channel{"c"}});
  ReplyReader reader;
  reader.feed(bytes);
  try_to([&] {
    while (auto item = reader.next(pipeline.largest_reply()))
      static_cast<void>(pipeline.accept(std::move(*item)));
  });
  static_cast<void>(pipeline.take_commands());
  for (const Push& push : pipeline.take_pushes())
    must(push.text.size() <= bytes.size(), "a message is part of what came");
  if (call->reply) static_cast<void>(lock.read(*call->reply));
}

}  // namespace

void check_replies(std::string_view bytes) {
  const auto whole = read_in_pieces(bytes, std::max<std::size_t>(bytes.size(), 1));
  must(read_in_pieces(bytes, 1) == whole, "bytes one by one are the same replies");
  ReplyReader reader;
  reader.feed(bytes);
  try_to([&] {
    while (const auto item = reader.next()) read_as_everything(item->reply);
  });
  for (const bool resp3 : {false, true}) answer_a_connection(bytes, resp3);
}

}  // namespace rlock::test
