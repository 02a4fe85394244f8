#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"
#include "fuzz/properties.h"
#include "support/dice.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The files of tests/fuzz/corpus/<name> in the order of their names: typical inputs, and inputs that once made a
/// property fail.
std::vector<std::string> corpus_of(std::string_view name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator{std::filesystem::path{RLOCK_SOURCE_FOLDER} /
                                                               "tests/fuzz/corpus" / name})
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file{path, std::ios::binary};
    inputs.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }
  return inputs;
}

/// One of the inputs with up to four small changes. A change replaces, drops or doubles a byte, inserts a part of
/// another input, or cuts off the rest.
std::string mutated(Dice& dice, const std::vector<std::string>& inputs) {
  std::string text = dice.pick(inputs);
  for (std::size_t changes = dice.below(4) + 1; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = dice.below(text.size());
    const std::string& other = dice.pick(inputs);
    const std::size_t from = dice.below(other.size() + 1);
    switch (dice.below(5)) {
      case 0: text[at] = static_cast<char>(dice.below(256)); break;
      case 1: text.erase(at, 1); break;
      case 2: text.insert(at, 1, text[at]); break;
      case 3: text.insert(at, other.substr(from, dice.below(20))); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("every input of the corpus, and its neighbours, keep their property") {
  constexpr std::size_t kNeighbours = 1000;
  for (const Property& property : kProperties) {
    CAPTURE(std::string{property.name});
    const std::vector<std::string> inputs = corpus_of(property.name);
    REQUIRE_FALSE(inputs.empty());
    Dice dice{20261122};
    for (std::size_t round = 0; round < inputs.size() + kNeighbours; ++round) {
      const std::string input = round < inputs.size() ? inputs[round] : mutated(dice, inputs);
      CAPTURE(round);
      CAPTURE(to_hex(input));
      REQUIRE_NOTHROW(property.check(input));
    }
  }
}
