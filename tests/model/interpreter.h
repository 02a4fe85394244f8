#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "redis/call.h"
#include "redis/reply.h"
#include "store.h"

struct lua_State;

namespace rlock::model {

/// Lua 5.1 with the functions that Redis gives to scripts: KEYS, ARGV, redis.call(), redis.pcall(),
/// redis.error_reply(). It runs the scripts as rlock sends them.
class Interpreter {
 public:
  Interpreter();
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Runs the scripts of this folder, if it has them, instead of the built-in ones: file_of().
  void take_scripts_from(std::string folder) { folder_ = std::move(folder); }

  /// From now on instructions() are counted, which takes time.
  void count_instructions();
  std::int64_t instructions() const noexcept { return instructions_; }

  /// The answer to EVALSHA; an error reply if the script fails.
  Reply run(const Call& call, Store& store);

 private:
  int compiled(const Script& script);

  lua_State* lua_;
  std::string folder_{};
  std::map<const Script*, int> compiled_;
  std::int64_t instructions_ = 0;
};

/// The file of a script in a folder of scripts.
std::string file_of(const std::string& folder, const Script& script);

}  // namespace rlock::model
