#include "support/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cmd/app/offered_options.h"
#include "cmd/app/verb_table.h"
#include "cmd/server/server_options.h"

namespace rlock::test {
namespace {

constexpr std::string_view kBegin = ".\\\" options of ";
constexpr std::string_view kEndOfOptions = ".\\\" end of options";
constexpr std::string_view kVerbsBegin = ".\\\" verbs";
constexpr std::string_view kVerbsEnd = ".\\\" end of verbs";

/// Text for roff: hyphens that can be copied, escaped backslashes, and no line that looks like a request.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-' || c == '\\') out += '\\';
    out += c == '\\' ? 'e' : c;
    line_begins = c == '\n';
  }
  return out;
}

/// "-w, --wait DUR" with the names in bold and the value in italics.
std::string heading(const Option& option) {
  std::string names;
  for (const std::string& name : spelled_names(option))
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  return with_value(names, fmt::format("\\fI{}\\fR", roff(option.value)), option);
}

/// Makes a sentence of a help line. Its first letter becomes a capital, unless the line begins with "rlock".
/// A full stop is added, unless the line ends with '.' or '?'. A newline becomes a blank.
std::string sentence(std::string_view line) {
  std::string text{line};
  std::ranges::replace(text, '\n', ' ');
  if (text.empty()) return text;
  const bool is_name = text.starts_with("rlock");
  if (!is_name && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text.ends_with('.') || text.ends_with('?') ? text : text + ".";
}

std::string paragraph(const Option& option) {
  std::vector<std::string> sentences;
  for (const std::string_view part : {option.help, option.manual}) {
    std::string line{part};
    std::ranges::replace(line, '\n', ' ');
    const bool lists_choices = !option.choices.empty() && line.starts_with(option.choices);
    if (!line.empty() && !lists_choices) sentences.push_back(roff(sentence(part)));
  }
  if (option.offer == Offer::choices) sentences.push_back(roff(fmt::format("One of: {}.", option.choices)));
  if (!option.standard.empty()) sentences.push_back(fmt::format("Default: {}.", roff(option.standard)));
  return fmt::format(".TP\n{}\n{}\n", heading(option), joined(sentences, "\n"));
}

std::string paragraphs(const VerbSpec& spec) {
  std::string text;
  for (const auto& group : spec.groups) {
    if (group.elsewhere) continue;
    std::string items;
    for (const Option& option : group.options) {
      if (is_documented(option)) items += paragraph(option);
    }
    if (!items.empty() && !group.title.empty()) text += fmt::format(".SS {}\n", roff(group.title));
    text += items;
  }
  return text;
}

/// The verbs for rlock(1), one entry for each first word, in the order of the table.
std::string verb_list(const std::map<std::string, std::string>& purposes) {
  std::string text;
  std::set<std::string> named;
  for (const VerbEntry* entry : verbs()) {
    const std::string word{entry->name.substr(0, entry->name.find(' '))};
    const auto purpose = purposes.find(word);
    if (purpose == purposes.end() || !named.insert(word).second) continue;
    text += fmt::format(".TP\n.BR rlock\\-{} (1)\n{}\n", roff(word), roff(purpose->second));
  }
  return text;
}

}  // namespace

std::string manual_options(std::string_view verb) {
  if (verb == "server") {
    VerbSpec spec;
    ServerOptions unused;
    declare_server_options(spec, unused);
    for (auto& group : spec.groups) group.elsewhere = false;
    return paragraphs(spec);
  }
  const VerbEntry* const entry = find_verb(verb);
  if (entry == nullptr) throw Error{Error::internal, fmt::format("there is no verb {}", in_quotes(verb))};
  std::string text = paragraphs(entry->make()->spec());
  // Several pages have a text such as "see FILES in rlock-run(1)". On the page rlock-run(1) itself, " in
  // rlock-run(1)" is removed.
  const std::string itself = fmt::format(" in rlock\\-{}(1)", roff(verb.substr(0, verb.find(' '))));
  for (std::size_t at = 0; (at = text.find(itself)) != std::string::npos;) text.erase(at, itself.size());
  return text;
}

std::string with_fresh_parts(std::string_view page, const std::map<std::string, std::string>& purposes) {
  std::string out;
  std::string_view end;  // the end of the part that is replaced
  for (const std::string& line : split(page, '\n')) {
    if (!end.empty() && line != end) continue;
    end = {};
    out += line + "\n";
    if (line == kVerbsBegin) {
      out += verb_list(purposes);
      end = kVerbsEnd;
    } else if (line.starts_with(kBegin)) {
      out += manual_options(std::string_view{line}.substr(kBegin.size()));
      end = kEndOfOptions;
    }
  }
  if (!page.empty() && page.back() == '\n')
    out.pop_back();  // split() saw an empty line behind the last newline
  return out;
}

}  // namespace rlock::test
