#include "support/named_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "parameter_names.h"
#include "scripts.h"
#include "support/contains.h"
#include "support/process.h"
#include "sync/calls/arguments.h"
#include "sync/calls/values.h"

namespace rlock::test {
namespace {

using P = Parameter;

// The usual values. The lock is k, and the owner o. The request r is remembered for 9 s, and a lease has 9 s, too.
constexpr std::pair<Parameter, std::string_view> kUsual[] = {
    {P::absent, ""},       {P::alive_for, "9000"}, {P::channel, "ch"},         {P::count, "1"},
    {P::done, "d"},        {P::done_by, "me"},     {P::ended, "100000000009"}, {P::entry, R"({"a":1})"},
    {P::expire, "0"},      {P::held, "k"},         {P::history, "h"},          {P::inner, "i"},
    {P::inside, "0"},      {P::keep, "K"},         {P::keep_until, "0"},       {P::latch, "k"},
    {P::lease, "9000"},    {P::line_facts, "f"},   {P::line_order, "l"},       {P::line_waiters, "w"},
    {P::lock, "k"},        {P::member, "o"},       {P::memory, "9000"},        {P::meta, "m"},
    {P::owner, "o"},       {P::pool, "k"},         {P::queue_alive, "w"},      {P::queue_deadlines, "d"},
    {P::queue_order, "q"}, {P::record, "m"},       {P::request, "r"},          {P::sharded, "0"},
    {P::shares, "c"},      {P::silent, "0"},       {P::since, "100000000001"}, {P::slots, "s"},
    {P::stays, "9000"},    {P::taken, "T"},        {P::theirs, "300000"},      {P::timeout, "t"},
    {P::token, "t"},       {P::total, "3"},        {P::waited, "0"},           {P::way, "first"},
    {P::who, "me"},
};

[[noreturn]] void refuse(const Script& script, std::string_view name) {
  throw std::invalid_argument{fmt::format("{} has no {}, or it has no usual value", script.name, name)};
}

/// The parameters that a word of a line names.
std::vector<Parameter> parameters_of(const Script& script, std::string_view name) {
  if (name == "line") return {P::line_order, P::line_waiters, P::line_facts};
  if (name == "queue") return {P::queue_order, P::queue_deadlines, P::queue_alive};
  const auto found = std::ranges::find(kParameterNames, name, &ParameterName::name);
  if (found == std::ranges::end(kParameterNames)) refuse(script, name);
  return {found->parameter};
}

std::string usual(const Script& script, Parameter parameter) {
  const auto found = std::ranges::find(kUsual, parameter, &std::pair<Parameter, std::string_view>::first);
  if (found == std::ranges::end(kUsual))
    refuse(script, std::ranges::find(kParameterNames, parameter, &ParameterName::parameter)->name);
  return std::string{found->second};
}

bool is_in(const Script::Parameters& names, Parameter name) {
  return std::ranges::find(names, name) != names.end();
}

Words words_of(std::string_view line) {
  Words words = split(line, ' ');
  std::erase(words, "");
  return words;
}

/// Makes the call of one script of the words behind its name.
class NamedCall {
 public:
  NamedCall(const Script& script, const Words& words) : script_(script) {
    for (const std::string& word : words) word.starts_with('-') ? leave_out(word.substr(1)) : give(word);
  }

  Call call() {
    // What is left out is not demanded.
    Script shortened = script_;
    shortened.required_keys = demand(script_.keys, script_.required_keys);
    shortened.required_args = demand(script_.args, script_.required_args);
    if (!left_out_.empty()) refuse(script_, "such name to leave out");
    Call call = call_of(shortened, values_);
    call.script = &script_;
    append(call.keys.edit(), listed_keys_);
    append(call.args.edit(), listed_args_);
    return call;
  }

 private:
  void give(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::optional<std::string> text;
    if (equals != word.npos) text = word.substr(equals + 1);
    if (text == "''") text = "";
    if (text && (name == "keys" || name == "locks")) return append(listed_keys_, split(*text, ','));
    if (text && (name == "ids" || name == "known")) return append(listed_args_, split(*text, ','));
    const std::vector<Parameter> parameters = parameters_of(script_, name);
    const Words texts = parameters.size() > 1 && text ? split(*text, ',') : Words(1, text.value_or(""));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!is_in(script_.keys, parameters[i]) && !is_in(script_.args, parameters[i])) refuse(script_, name);
      values_.emplace_back(parameters[i], text ? texts.at(i) : usual(script_, parameters[i]));
    }
  }

  void leave_out(const std::string& name) { left_out_.push_back(parameters_of(script_, name).front()); }

  /// Adds the usual values to those that the script demands, and returns how many it demands now.
  std::uint8_t demand(const Script::Parameters& names, std::uint8_t required) {
    for (std::uint8_t i = 0; i < required; ++i) {
      if (std::erase(left_out_, names[i]) > 0) return i;
      if (std::ranges::find(values_, names[i], &Values::value_type::first) == values_.end())
        values_.emplace_back(names[i], usual(script_, names[i]));
    }
    return required;
  }

  const Script& script_;
  Values values_;
  std::vector<Parameter> left_out_;
  Words listed_keys_, listed_args_;
};

/// Makes the call for several locks as Together does.
Call call_for_several(const Script& script, std::string_view rest) {
  const bool undoes = rest.starts_with("undo ");
  if (undoes) rest.remove_prefix(5);
  std::vector<Call> calls;
  for (const std::string& one : split(rest, '|')) calls.push_back(named_call(one));
  Words keys, args{(undoes ? "-" : "") + std::to_string(calls.size() / 2)};
  for (std::size_t i = 0; i + 1 < calls.size(); i += 2) {
    const Call &ask = calls[i], &back = calls[i + 1];
    append(keys, ask.keys);
    append(keys, back.keys);
    for (const std::size_t count : {ask.keys.size(), back.keys.size(), ask.args.size(), back.args.size()})
      args.push_back(std::to_string(count));
    append(args, ask.args);
    append(args, back.args);
  }
  return {.script = &script, .keys = std::move(keys), .args = std::move(args)};
}

}  // namespace

const Script& script_named(std::string_view name) {
  const auto found = std::ranges::find(scripts::all, name, [](const Script* script) { return script->name; });
  if (found == scripts::all.end()) throw std::invalid_argument{std::string{name} + " is no script"};
  return **found;
}

Call named_call(std::string_view line) {
  Words words = words_of(line);
  const Script& script = script_named(words.front());
  if (contains(script.name, "multi")) return call_for_several(script, line.substr(line.find(' ') + 1));
  words.erase(words.begin());
  return NamedCall{script, words}.call();
}

}  // namespace rlock::test
