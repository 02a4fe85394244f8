#include "redis/mailbox.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/list_redis.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const Channel kOne{"one"};
const Channel kTwo{"two"};

/// The texts of the messages. The confirmation of a subscription has no text.
std::vector<std::string> texts(const std::vector<Message>& messages) {
  std::vector<std::string> texts;
  for (const Message& message : messages)
    if (message.text) texts.push_back(*message.text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("each mailbox gets its own copy of its channels' messages, and no others") {
  ListRedis redis;
  Mailbox first{redis};
  Mailbox second{redis};
  first.listen_to({kOne});
  second.listen_to({kOne, kTwo});
  redis.said = {{kOne, "a"}, {kTwo, "b"}};

  CHECK(texts(first.take()) == Texts{"a"});
  CHECK(texts(second.take()) == Texts{"a", "b"});
  CHECK(texts(first.take()).empty());
}

TEST_CASE("a mailbox that changes its channel keeps its messages, and a new mailbox gets none of them") {
  ListRedis redis;
  Mailbox first{redis};
  first.listen_to({kOne});
  redis.said = {{kOne, "a"}};
  first.listen_to({kTwo});
  Mailbox second{redis};
  second.listen_to({kOne});

  CHECK(texts(second.take()).empty());
  CHECK(texts(first.take()) == Texts{"a"});
}

TEST_CASE("a mailbox that goes ends its subscriptions, and one that keeps some channels ends the others") {
  ListRedis redis;
  {
    Mailbox mailbox{redis};
    mailbox.listen_to({kOne, kTwo});
    mailbox.keep_only({kTwo, Channel{"three"}});
    CHECK(redis.watched == std::vector<std::string>{"one", "two", "-one"});
  }
  CHECK(redis.watched.back() == "-two");
}

TEST_CASE("a request is dropped when its handle goes, and a handle that was moved from has none") {
  ListRedis redis;
  {
    Redis::Request request = redis.post(command({"PING"}), {}, kNever);
    Redis::Request other = std::move(request);
    CHECK(redis.open() == 1);
    CHECK_FALSE(request);
    other = redis.post(command({"PING"}), {}, kNever);  // drops the request that `other` had before
    CHECK(redis.open() == 1);
  }
  CHECK(redis.open() == 0);
}
