#include "redis/handshake.h"

#include <fmt/format.h>

#include "base/identity.h"

namespace rlock {
namespace {

/// The error by which a server says that it does not know HELLO or RESP3.
bool speaks_only_resp2(const Reply& error) {
  return error.is_error("NOPROTO") || error.text().find("unknown command") != std::string::npos;
}

/// Before Redis 6, and since.
bool asks_for_no_password(const Reply& error) {
  const std::string text = error.text();
  return text.find("no password is set") != std::string::npos ||
         text.find("without any password configured") != std::string::npos;
}

/// An ACL may forbid to set a name, or to be told who the server is.
bool may_be_forbidden(Handshake::Step step) {
  using Step = Handshake::Step;
  return step == Step::name || step == Step::run_id || step == Step::mode || step == Step::role;
}

/// May the same greeting succeed later?
bool is_busy(const Reply& error) {
  return error.is_error("LOADING") || error.text().find("max number of clients") != std::string::npos;
}

}  // namespace

Handshake::Handshake(Greeting greeting, Address address, bool tls)
    : greeting_(std::move(greeting)), address_(std::move(address)), tls_(tls) {}

bool Handshake::comes_alone() const noexcept {
  return greeting_.password.has_value() || !greeting_.user.empty() || greeting_.db != 0;
}

std::vector<CommandWords> Handshake::begin() {
  std::vector<CommandWords> commands;
  const auto say = [&](Step step, CommandWords words) {
    commands.push_back(std::move(words));
    unanswered_.push_back(step);
  };
  // A server that asks for no password accepts any in HELLO, and in AUTH with a name. Only AUTH with the
  // password alone is refused there: then this is probably another server than the one that was meant.
  const bool is_default = greeting_.user.empty() || greeting_.user == "default";
  const bool by_password_alone = is_default && greeting_.password.has_value();
  const std::string password = greeting_.password.value_or("");  // an ACL user with `nopass` takes any
  if (by_password_alone) say(Step::auth, {"AUTH", password});
  const bool by_name = !by_password_alone && !greeting_.user.empty();
  if (greeting_.resp3) {
    CommandWords hello{"HELLO", "3"};
    if (by_name) hello.insert(hello.end(), {"AUTH", greeting_.user, password});
    hello.insert(hello.end(), {"SETNAME", client_name()});
    say(Step::hello, std::move(hello));
  } else {
    if (by_name) say(Step::auth, {"AUTH", greeting_.user, password});
    say(Step::name, {"CLIENT", "SETNAME", client_name()});
  }
  if (greeting_.db != 0) say(Step::select, {"SELECT", std::to_string(greeting_.db)});
  if (!greeting_.resp3) {  // what HELLO would have told
    say(Step::mode, {"INFO", "server"});
    say(Step::role, {"INFO", "replication"});
  } else if (greeting_.ask_run_id) {
    say(Step::run_id, {"INFO", "server"});
  }
  return commands;
}

std::vector<CommandWords> Handshake::accept(Reply reply) {
  const Step step = unanswered_.front();
  unanswered_.pop_front();
  if (step == Step::stranger) {
    fail(describe_stranger(greeting_.meant, identity_, address_, tls_, std::move(reply)));
    return {};
  }
  if (stranger()) return {};  // the rest of the greeting was meant for another server
  if (reply.is_error() && (!may_be_forbidden(step) || reply.is_error("NOAUTH"))) {
    refused(step, reply);
    return {};
  }
  if (step == Step::hello) identity_ = read_hello(reply);
  if (step == Step::run_id || step == Step::mode) identity_.run_id = read_info(reply, "run_id");
  if (step == Step::run_id) return {};
  if (step == Step::mode) identity_.mode = read_info(reply, "redis_mode");
  if (step == Step::role) {
    const std::string role = read_info(reply, "role");
    identity_.role = role == "slave" ? "replica" : role;
  }
  if (is_stranger(greeting_.meant, identity_)) return ask_stranger();
  if (!greeting_goes_on()) state_ = State::accepted;
  return {};
}

/// Is there a reply to come that may refuse us?
bool Handshake::greeting_goes_on() const {
  return !unanswered_.empty() && unanswered_.front() != Step::run_id;
}

/// What was written after the greeting is ignored now, and the right URL is found out.
std::vector<CommandWords> Handshake::ask_stranger() {
  state_ = State::stranger;
  CommandWords question = question_to_stranger(identity_);
  if (question.empty()) {
    fail(describe_stranger(greeting_.meant, identity_, address_, tls_, std::nullopt));
    return {};
  }
  unanswered_.push_back(Step::stranger);
  return {std::move(question)};
}

void Handshake::fail(Failure why) {
  state_ = State::failed;
  failure_ = std::move(why);
}

void Handshake::refused(Step step, const Reply& error) {
  if (step == Step::hello && speaks_only_resp2(error)) {
    wants_resp2_ = Resp2::told;
    return fail({Error::unreachable, "the server speaks RESP2 only"});
  }
  Failure why = failure_of(error);
  if (why.kind == Error::denied) return fail(std::move(why));
  if (step == Step::select)
    return fail({Error::config, fmt::format("it has no database {} ({}); see --db", greeting_.db, why.text)});
  if (asks_for_no_password(error))
    return fail(
        {Error::denied, fmt::format("the server asks for no password, so it may not be the one that was "
                                    "meant; if it is, give none ({})",
                                    why.text)});
  fail({is_busy(error) ? Error::unreachable : Error::denied, why.text});
}

Failure Handshake::hung_up(Failure why) {
  if (greeting_.resp3) wants_resp2_ = Resp2::suspected;
  if (!tls_) why.text += "; if it speaks TLS: rediss://";
  return why;
}

}  // namespace rlock
