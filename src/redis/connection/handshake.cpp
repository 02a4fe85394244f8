// begin() says what to write, in the order of Step: the password alone if we can (begin() says why), then HELLO, or
// in RESP2 the commands that do the same, then SELECT, then questions about the server. accept() takes one reply
// after the other. It ends in one of three ways:
//
//   accepted    Every reply that may refuse us has come. The run id may come later.
//   failed      A reply refuses us. If the server asks for no password, we first hear what it is: a better reason.
//   unexpected  The server is not what its URL says. It gets one more question, whose answer the message needs.

#include "redis/connection/handshake.h"

#include <fmt/format.h>

#include "base/as_given.h"
#include "base/identity.h"

namespace rlock {
namespace {

/// Is this the error of a server that does not know HELLO or RESP3?
bool speaks_only_resp2(const Reply& error) {
  return error.is_error("NOPROTO") || error.text().find("unknown command") != std::string::npos;
}

/// Does the server say that it has no password? The texts are those before and since Redis 6.
bool asks_for_no_password(const Reply& error) {
  const std::string text = error.text();
  return text.find("no password is set") != std::string::npos ||
         text.find("without any password configured") != std::string::npos;
}

/// "; the password is from REDISCLI_AUTH", unless it was typed or stands in the URL.
std::string source_of_password() {
  const std::string source = as_given("password", "");
  return source.empty() ? "" : "; the password is from " + source;
}

/// Behind the refusal of a user, if no password was given.
constexpr const char* kNoPassword =
    "; rlock gave no password; give one by --password-file, RLOCK_PASSWORD or --askpass";

/// Can the connection be used even if an ACL forbids this step? Yes for setting a name, and for asking for
/// facts about the server.
bool may_be_forbidden(Handshake::Step step) {
  using Step = Handshake::Step;
  return step == Step::name || step == Step::run_id || step == Step::mode || step == Step::role;
}

/// May the same greeting succeed later?
bool is_busy(const Reply& error) {
  return is_passing(error) || error.text().find("max number of clients") != std::string::npos;
}

}  // namespace

Handshake::Handshake(Greeting greeting, Address address, bool tls)
    : greeting_(std::move(greeting)), address_(std::move(address)), tls_(tls) {}

bool Handshake::comes_alone() const noexcept {
  return greeting_.password.has_value() || !greeting_.user.empty() || greeting_.meant.selected() != 0;
}

std::vector<CommandWords> Handshake::begin() {
  std::vector<CommandWords> commands;
  const auto send = [&](Step step, CommandWords words) {
    commands.push_back(std::move(words));
    unanswered_.push_back(step);
  };
  // A server without a password accepts any password in HELLO, and in AUTH with a name. It refuses only AUTH
  // with the password alone. Such a refusal suggests that this is the wrong server, so we send that form if
  // we can.
  const bool is_default = greeting_.user.empty() || greeting_.user == "default";
  const bool by_password_alone = is_default && greeting_.password.has_value();
  const std::string password = greeting_.password.value_or("");  // an ACL user with `nopass` accepts any
                                                                 // password
  if (by_password_alone) send(Step::auth, {"AUTH", password});
  const bool by_name = !by_password_alone && !greeting_.user.empty();
  if (greeting_.resp3) {
    CommandWords hello{"HELLO", "3"};
    if (by_name) hello.insert(hello.end(), {"AUTH", greeting_.user, password});
    hello.insert(hello.end(), {"SETNAME", client_name()});
    send(Step::hello, std::move(hello));
  } else {
    if (by_name) send(Step::auth, {"AUTH", greeting_.user, password});
    send(Step::name, {"CLIENT", "SETNAME", client_name()});
  }
  if (greeting_.meant.selected() != 0) send(Step::select, {"SELECT", std::to_string(greeting_.meant.db)});
  if (!greeting_.resp3) {  // the facts that HELLO would have told
    send(Step::mode, {"INFO", "server"});
    send(Step::role, {"INFO", "replication"});
  } else if (greeting_.ask_run_id) {
    send(Step::run_id, {"INFO", "server"});
  }
  return commands;
}

std::vector<CommandWords> Handshake::accept(Reply reply) {
  const Step step = unanswered_.front();
  unanswered_.pop_front();
  if (step == Step::unexpected) {
    fail(describe_unexpected(greeting_.meant, identity_, address_, tls_, std::move(reply)));
    return {};
  }
  if (unexpected()) return {};  // the rest of the greeting was for another kind of server
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
  if (is_unexpected(greeting_.meant, identity_)) return ask_unexpected();
  if (greeting_goes_on()) return {};
  if (asked_for_no_password_) {
    fail(*asked_for_no_password_);
  } else {
    state_ = State::accepted;
  }
  return {};
}

/// May a reply that is still to come refuse us?
bool Handshake::greeting_goes_on() const {
  return !unanswered_.empty() && unanswered_.front() != Step::run_id;
}

/// The server is not what its URL says, so it gets no call. Asks it for what the right URL needs, for the message.
std::vector<CommandWords> Handshake::ask_unexpected() {
  state_ = State::unexpected;
  CommandWords question = question_to_unexpected(identity_);
  if (question.empty()) {
    fail(describe_unexpected(greeting_.meant, identity_, address_, tls_, std::nullopt));
    return {};
  }
  unanswered_.push_back(Step::unexpected);
  return {std::move(question)};
}

void Handshake::fail(Failure why) {
  state_ = State::failed;
  failure_ = std::move(why);
}

void Handshake::refused(Step step, const Reply& error) {
  if (step == Step::hello && speaks_only_resp2(error)) {
    wants_resp2_ = Resp2::certain;
    return fail({Error::unreachable, "the server speaks RESP2 only"});
  }
  Failure why = failure_of(error);
  if (error.is_error("WRONGPASS")) why.text += greeting_.password ? source_of_password() : kNoPassword;
  if (why.kind == Error::denied) return fail(std::move(why));
  if (is_busy(error)) return fail({Error::unreachable, std::move(why.text)});
  if (step == Step::select && error.text().find("in cluster mode") != std::string::npos)
    return fail({Error::config, fmt::format("it is a node of a cluster, which has no databases; use --url {}",
                                            suggested_url(Target::Topology::cluster, address_, tls_))});
  if (step == Step::select)
    return fail({Error::config, fmt::format("it has no database {} ({}); see {}", greeting_.meant.db,
                                            why.text, as_given("db", "--db or the URL"))});
  if (asks_for_no_password(error)) {  // the rest of the greeting tells whether it is a Sentinel
    asked_for_no_password_ = {
        Error::denied,
        fmt::format("the server asks for no password, so it may be another one than you meant; if it is "
                    "the right one, give no password ({}){}",
                    why.text, source_of_password())};
    return;
  }
  // Some proxies answer so while their server is away. But old servers and other programs refuse a password in their own words.
  const bool may_refuse_password = greeting_.password && (step == Step::auth || step == Step::hello);
  fail({may_refuse_password ? Error::denied : Error::unreachable, why.text});
}

Failure Handshake::hung_up(Failure why) {
  if (greeting_.resp3) wants_resp2_ = Resp2::suspected;
  if (!tls_ && !greeting_.to_known) why.text += "; if it speaks TLS: rediss://";
  return why;
}

}  // namespace rlock
