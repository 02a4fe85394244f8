#pragma once

#include <map>
#include <memory>
#include <string>

#include "redis/call.h"
#include "redis/reply.h"
#include "store.h"

struct lua_State;

namespace rlock::model {

/// Lua 5.1 with what Redis gives to scripts: KEYS, ARGV, redis.call(), redis.pcall(), redis.error_reply().
/// It runs the bytes that rlock sends.
class Interpreter {
 public:
  Interpreter();
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Runs the scripts in this folder instead, where it has them: file_of().
  void take_scripts_from(std::string folder) { folder_ = std::move(folder); }

  /// What EVALSHA answers; an error reply where the script fails.
  Reply run(const Call& call, Store& store);

 private:
  int compiled(const Script& script);

  lua_State* lua_;
  std::string folder_{};
  std::map<const Script*, int> compiled_;
};

/// In a folder of scripts.
std::string file_of(const std::string& folder, const Script& script);

}  // namespace rlock::model
