#include "redis/connection/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "support/contains.h"
#include "support/test_calls.h"

using namespace rlock;
using namespace rlock::test;

namespace {

using Commands = std::vector<CommandWords>;

const Channel kC{"c"};
const Channel kD{"d"};
const Reply kNoScript = Reply::error("NOSCRIPT No matching script.");

/// A writing with one follower.
const Writing kFollowed{.followers = {call_for(kOtherScript)}};
const Writing kWithSource{.with_source = true};

CommandWords by_hash(const Script& script) { return {"EVALSHA", std::string{script.sha1}, "1", "k", "a"}; }
CommandWords as_text(const Script& script) { return {"EVAL", std::string{script.source}, "1", "k", "a"}; }

Pipeline opened(bool resp3 = true) {
  Pipeline pipeline{resp3};
  pipeline.open();
  return pipeline;
}

Reply words(const std::vector<std::string>& texts) {
  std::vector<Reply> items;
  for (const std::string& text : texts) items.emplace_back(text);
  return Reply{std::move(items)};
}

/// Feeds one reply that does not answer the greeting.
void reply(Pipeline& pipeline, Reply reply) {
  CHECK_FALSE(pipeline.accept({.reply = std::move(reply), .push = false}).has_value());
}
void feed_push(Pipeline& pipeline, const std::vector<std::string>& texts) {
  CHECK_FALSE(pipeline.accept({.reply = words(texts), .push = true}).has_value());
}

}  // namespace

TEST_CASE("replies belong to the commands in their order, also with pushes between them") {
  Pipeline pipeline = opened();
  pipeline.subscribe({.channel = kC});
  pipeline.subscribe({.channel = kD});
  const auto first = pipeline.send(call_for(kScript), {});
  const auto forgotten = pipeline.send(call_for(kScript), {});  // it keeps its place in the order
  const auto second = pipeline.send(command({"GET", "k"}), {});
  forgotten->forgotten = true;
  CHECK(pipeline.take_commands() ==
        Commands{{"SUBSCRIBE", "c"}, {"SUBSCRIBE", "d"}, by_hash(kScript), by_hash(kScript), {"GET", "k"}});

  feed_push(pipeline, {"subscribe", "c", "1"});
  feed_push(pipeline, {"subscribe", "d", "2"});
  feed_push(pipeline, {"message", "c", "0"});
  reply(pipeline, Reply{1});
  feed_push(pipeline, {"message", "c", "1"});
  CHECK(pipeline.has_unanswered());
  reply(pipeline, Reply{2});
  CHECK_FALSE(pipeline.has_unanswered());
  feed_push(pipeline, {"message", "d", "2"});
  reply(pipeline, Reply{"three"});

  CHECK(first->reply->integer() == 1);
  CHECK(second->reply->text() == "three");
  const auto pushes = pipeline.take_pushes();
  REQUIRE(pushes.size() == 5);
  CHECK(pushes[0].kind == Push::Kind::subscribed);
  CHECK(pushes[2].kind == Push::Kind::message);
  CHECK(pushes[2].channel == kC);
  CHECK(pushes[4].channel == kD);
  CHECK(pipeline.take_commands().empty());
}

TEST_CASE("calls wait until the greeting allows them, and keep their order") {
  Pipeline pipeline{true};
  pipeline.greet({{"AUTH", "secret"}, {"HELLO", "3"}});
  const auto call = pipeline.send(call_for(kScript), {.followers = {call_for(kOtherScript)}, .asking = true});
  pipeline.subscribe({.channel = kC});
  CHECK(pipeline.holds_back());
  CHECK_FALSE(call->written);
  CHECK(pipeline.take_commands() == Commands{{"AUTH", "secret"}, {"HELLO", "3"}});

  CHECK(pipeline.accept({.reply = Reply{"OK"}})->text() == "OK");  // handed back: it answers the greeting
  CHECK(pipeline.accept({.reply = words({})}).has_value());
  pipeline.open();

  CHECK(call->written);
  CHECK_FALSE(pipeline.holds_back());
  CHECK(pipeline.take_commands() ==
        Commands{{"ASKING"}, by_hash(kScript), {"ASKING"}, by_hash(kOtherScript), {"SUBSCRIBE", "c"}});
  reply(pipeline, Reply{"OK", Reply::Kind::status});
  reply(pipeline, Reply{7});
  CHECK(call->reply->integer() == 7);
}

TEST_CASE("a plain command that was given up is in nobody's way") {
  Pipeline pipeline = opened();
  const auto ping = pipeline.send(command({"PING"}), {});
  ping->forgotten = true;
  REQUIRE(pipeline.take_commands() == Commands{{"PING"}});
  CHECK(pipeline.expects_replies());
  CHECK_FALSE(pipeline.has_unanswered());
}

TEST_CASE("a call that is given up before it could be written is never written") {
  Pipeline pipeline{true};
  const auto call = pipeline.send(call_for(kScript), kFollowed);
  call->forgotten = true;
  pipeline.open();
  CHECK(pipeline.take_commands().empty());
  CHECK_FALSE(pipeline.has_unanswered());
}

TEST_CASE("a script that the server does not know is sent as text, once, and its followers after it") {
  Pipeline pipeline = opened();
  const auto call = pipeline.send(call_for(kScript), kFollowed);
  CHECK(pipeline.take_commands() == Commands{by_hash(kScript), by_hash(kOtherScript)});

  reply(pipeline, kNoScript);
  CHECK(pipeline.take_commands() == Commands{as_text(kScript), as_text(kOtherScript)});
  reply(pipeline, kNoScript);  // answers the follower, which is on its way already
  CHECK(pipeline.take_commands().empty());
  CHECK_FALSE(call->reply.has_value());
  reply(pipeline, Reply{1});
  reply(pipeline, Reply{2});
  CHECK(call->reply->integer() == 1);

  const auto next = pipeline.send(call_for(kScript), {});
  CHECK(pipeline.take_commands() == Commands{by_hash(kScript)});
}

TEST_CASE("only the follower is sent again when only the follower is unknown") {
  Pipeline pipeline = opened();
  const auto call = pipeline.send(call_for(kScript), kFollowed);
  (void)pipeline.take_commands();
  reply(pipeline, Reply{1});
  reply(pipeline, kNoScript);
  CHECK(pipeline.take_commands() == Commands{as_text(kOtherScript)});
  CHECK(call->reply->integer() == 1);
  CHECK(call->followers_left == 1);
  reply(pipeline, Reply{2});
  CHECK(call->followers_left == 0);
}

TEST_CASE("an abandoned call is not sent again after its undo") {
  Pipeline pipeline = opened();
  const auto given_up = pipeline.send(call_for(kScript), {});
  given_up->forgotten = true;
  const auto undo = pipeline.send(call_for(kOtherScript), kWithSource);
  CHECK(pipeline.take_commands() == Commands{by_hash(kScript), as_text(kOtherScript)});

  reply(pipeline, kNoScript);
  reply(pipeline, Reply{1});
  CHECK(pipeline.take_commands().empty());
  CHECK(undo->reply->integer() == 1);
}

TEST_CASE("a call in full and its followers are sent as text, once for each connection") {
  Pipeline pipeline = opened();
  (void)pipeline.send(call_for(kScript), {.followers = {call_for(kOtherScript)}, .with_source = true});
  (void)pipeline.send(call_for(kScript), {.followers = {call_for(kOtherScript)}, .with_source = true});
  CHECK(pipeline.take_commands() ==
        Commands{as_text(kScript), as_text(kOtherScript), by_hash(kScript), by_hash(kOtherScript)});
}

TEST_CASE("NOSCRIPT in answer to the text of a script is the answer") {
  Pipeline pipeline = opened();
  const auto call = pipeline.send(call_for(kScript), {});
  reply(pipeline, kNoScript);
  reply(pipeline, Reply::error("NOSCRIPT there are no scripts here"));
  CHECK(call->reply->is_error("NOSCRIPT"));
}

TEST_CASE("calls left behind are sent as text, and their replies are dropped") {
  Pipeline pipeline = opened();
  const auto call = pipeline.send(call_for(kScript), {});
  pipeline.leave_behind({call_for(kOtherScript), call_for(kOtherScript)});
  CHECK(pipeline.take_commands() == Commands{by_hash(kScript), as_text(kOtherScript), by_hash(kOtherScript)});

  Pipeline held{true};
  held.leave_behind({call_for(kOtherScript)});  // nothing was written, so there is nothing to undo
  held.open();
  CHECK(held.take_commands().empty());
}

TEST_CASE("a closed pipeline writes nothing and answers nothing, but the greeting goes on") {
  Pipeline pipeline = opened();
  pipeline.greet({{"HELLO", "3"}});
  const auto before = pipeline.send(call_for(kScript), {});
  pipeline.close();
  pipeline.greet({{"ROLE"}});
  const auto after = pipeline.send(call_for(kScript), {});
  CHECK(pipeline.take_commands() == Commands{{"HELLO", "3"}, by_hash(kScript), {"ROLE"}});

  CHECK(pipeline.accept({.reply = Reply{"OK"}}).has_value());
  reply(pipeline, kNoScript);
  CHECK(pipeline.accept({.reply = Reply{"master"}}).has_value());
  CHECK(pipeline.take_commands().empty());
  CHECK_FALSE(before->reply.has_value());
  CHECK_FALSE(after->written);
}

TEST_CASE("if the next connection greets in RESP2, every call may be sent there at once") {
  Pipeline pipeline{true};
  const auto held = pipeline.send(call_for(kScript), {});
  Pipeline other = opened();
  const auto written = other.send(call_for(kScript), {});
  pipeline.send_again_elsewhere();
  other.send_again_elsewhere();
  CHECK(held->again);
  CHECK(written->again);
}

TEST_CASE("in RESP2 messages look like answers and are not taken for them") {
  Pipeline pipeline = opened(false);
  const auto list = pipeline.send(command({"LRANGE", "k", "0", "-1"}), {});
  reply(pipeline, words({"message", "c", "0"}));  // before the first SUBSCRIBE an array is an answer
  CHECK(list->reply->items().size() == 3);

  pipeline.subscribe({.channel = kC});
  reply(pipeline, words({"subscribe", "c", "1"}));
  reply(pipeline, words({"message", "c", "0"}));
  CHECK(pipeline.take_pushes().size() == 2);
}

TEST_CASE("a refused subscription is announced, and the replies after it keep their places") {
  Pipeline pipeline = opened();
  pipeline.subscribe({.channel = kC, .sharded = true});
  const auto call = pipeline.send(call_for(kScript), {});
  reply(pipeline, Reply::error("NOPERM this user has no permissions to access one of the channels"));
  reply(pipeline, Reply{5});

  CHECK(call->reply->integer() == 5);
  const auto pushes = pipeline.take_pushes();
  REQUIRE(pushes.size() == 1);
  CHECK(pushes[0].kind == Push::Kind::refused);
  CHECK(pushes[0].sharded);
  CHECK(pushes[0].reply.is_error("NOPERM"));
}

TEST_CASE("an unsubscription by the server takes no command's place in the order") {
  Pipeline pipeline = opened();
  pipeline.subscribe({.channel = kC, .sharded = true});
  feed_push(pipeline, {"ssubscribe", "c", "1"});
  const auto call = pipeline.send(command({"GET", "k"}), {});
  feed_push(pipeline, {"sunsubscribe", "c", "0"});
  feed_push(pipeline, {"smessage", "c", "0"});  // no longer subscribed
  reply(pipeline, Reply{"v"});

  CHECK(call->reply->text() == "v");
  const auto pushes = pipeline.take_pushes();
  REQUIRE(pushes.size() == 2);
  CHECK(pushes[1].kind == Push::Kind::unsubscribed);
}

TEST_CASE("the first messages of a flood are kept, and messages of unwanted channels are dropped") {
  Pipeline pipeline = opened();
  pipeline.subscribe({.channel = kC});
  for (int i = 0; i < 1000; ++i) {
    feed_push(pipeline, {"message", "c", "0"});
    feed_push(pipeline, {"message", "d", "0"});
  }
  const auto pushes = pipeline.take_pushes();
  CHECK(pushes.size() == 100);
  CHECK(std::ranges::all_of(pushes, [](const Push& one) { return one.channel == kC; }));
}

TEST_CASE("a reply may be as large as its call allows") {
  Pipeline pipeline = opened();
  CHECK(pipeline.largest_reply() == kLargestReply);
  Call small = call_for(kScript);
  small.largest_reply = 100;
  (void)pipeline.send(small, {});
  CHECK(pipeline.largest_reply() == 100);
  reply(pipeline, Reply{1});
  pipeline.subscribe({.channel = kC});
  CHECK(pipeline.largest_reply() == kLargestReply);
}

TEST_CASE("an unrequested reply and a malformed push are errors") {
  const auto thrown_by = [](ReplyReader::Item item) -> std::string {
    Pipeline pipeline = opened();
    try {
      (void)pipeline.accept(std::move(item));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  CHECK(thrown_by({.reply = Reply{1}}) == "the server sent a reply without a request");
  CHECK(thrown_by({.reply = Reply::error("ERR \x1b[31mgo away")}) == "ERR \\x1b[31mgo away");
  CHECK(contains(thrown_by({.reply = Reply{std::vector<Reply>{Reply{"message"}, Reply{}}}, .push = true}),
                 "where text was expected"));
}
