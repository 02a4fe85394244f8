#include "interpreter.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <lua.hpp>
#include <stdexcept>

namespace rlock::model {
namespace {

void push(lua_State* lua, const Reply& reply) {
  switch (reply.kind()) {
    case Reply::Kind::nil: lua_pushboolean(lua, 0); return;
    case Reply::Kind::integer: lua_pushnumber(lua, static_cast<lua_Number>(reply.integer())); return;
    case Reply::Kind::text: {
      const std::string text = reply.text();
      lua_pushlstring(lua, text.data(), text.size());
      return;
    }
    case Reply::Kind::status:
    case Reply::Kind::error: {
      const std::string text = reply.text();
      lua_newtable(lua);
      lua_pushlstring(lua, text.data(), text.size());
      lua_setfield(lua, -2, reply.is_error() ? "err" : "ok");
      return;
    }
    case Reply::Kind::array: {
      lua_newtable(lua);
      int index = 0;
      for (const Reply& item : reply.items()) {
        push(lua, item);
        lua_rawseti(lua, -2, ++index);
      }
      return;
    }
  }
}

std::string text_at(lua_State* lua, int index) {
  std::size_t size = 0;
  const char* text = lua_tolstring(lua, index, &size);
  return text != nullptr ? std::string{text, size} : std::string{};
}

/// Turns the result of a script into a reply, like Redis.
Reply reply_at(lua_State* lua, int index) {
  switch (lua_type(lua, index)) {
    case LUA_TNUMBER: return Reply{static_cast<std::int64_t>(lua_tonumber(lua, index))};
    case LUA_TSTRING: return Reply{text_at(lua, index)};
    case LUA_TBOOLEAN: return lua_toboolean(lua, index) != 0 ? Reply{std::int64_t{1}} : Reply{};
    case LUA_TTABLE: break;
    default: return Reply{};
  }
  for (const char* field : {"err", "ok"}) {
    lua_getfield(lua, index, field);
    const bool there = lua_type(lua, -1) == LUA_TSTRING;
    const std::string text = there ? text_at(lua, -1) : "";
    lua_pop(lua, 1);
    if (there) return Reply{text, *field == 'e' ? Reply::Kind::error : Reply::Kind::status};
  }
  std::vector<Reply> items;
  for (int i = 1;; ++i) {
    lua_rawgeti(lua, index, i);
    if (lua_isnil(lua, -1)) break;
    items.push_back(reply_at(lua, lua_gettop(lua)));
    lua_pop(lua, 1);
  }
  lua_pop(lua, 1);
  return Reply{std::move(items)};
}

constexpr const char* kStore = "rlock.store";
constexpr const char* kInstructions = "rlock.instructions";

/// Pushes the reply onto the stack. Returns false if it is an error. It is a separate function, because an
/// error of Lua jumps over destructors.
bool call_store(lua_State* lua) {
  lua_getfield(lua, LUA_REGISTRYINDEX, kStore);
  auto* store = static_cast<Store*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  Words words;
  Reply reply;
  for (int i = 1; i <= lua_gettop(lua) && !reply.is_error(); ++i) {
    if (lua_type(lua, i) == LUA_TNUMBER) {
      words.push_back(fmt::format("{:.17g}", lua_tonumber(lua, i)));
    } else if (lua_type(lua, i) == LUA_TSTRING) {
      words.push_back(text_at(lua, i));
    } else {
      reply = Reply::error("ERR Lua redis lib command arguments must be strings or integers");
    }
  }
  if (!reply.is_error()) reply = store->call(words);
  push(lua, reply);
  return !reply.is_error();
}

int redis_call(lua_State* lua) { return call_store(lua) ? 1 : lua_error(lua); }

int redis_pcall(lua_State* lua) {
  call_store(lua);
  return 1;
}

int redis_error_reply(lua_State* lua) {
  lua_newtable(lua);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "err");
  return 1;
}

int redis_sha1hex(lua_State* lua) {
  std::size_t size = 0;
  const char* text = luaL_checklstring(lua, 1, &size);
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text), size, digest);
  char hex[2 * SHA_DIGEST_LENGTH];
  for (std::size_t i = 0; i < sizeof hex; ++i)
    hex[i] = "0123456789abcdef"[i % 2 == 0 ? digest[i / 2] >> 4 : digest[i / 2] & 15];
  lua_pushlstring(lua, hex, sizeof hex);
  return 1;
}

void set_global(lua_State* lua, const char* name, const std::vector<std::string>& words) {
  lua_createtable(lua, static_cast<int>(words.size()), 0);
  int index = 0;
  for (const std::string& word : words) {
    lua_pushlstring(lua, word.data(), word.size());
    lua_rawseti(lua, -2, ++index);
  }
  lua_setglobal(lua, name);
}

}  // namespace

std::string file_of(const std::string& folder, const Script& script) {
  std::string name{script.name};
  std::ranges::replace(name, '/', '_');
  return folder + "/" + name;
}

Interpreter::Interpreter() : lua_(luaL_newstate()) {
  luaL_openlibs(lua_);
  lua_newtable(lua_);
  lua_pushcfunction(lua_, redis_call);
  lua_setfield(lua_, -2, "call");
  lua_pushcfunction(lua_, redis_pcall);
  lua_setfield(lua_, -2, "pcall");
  lua_pushcfunction(lua_, redis_error_reply);
  lua_setfield(lua_, -2, "error_reply");
  lua_pushcfunction(lua_, redis_sha1hex);
  lua_setfield(lua_, -2, "sha1hex");
  lua_setglobal(lua_, "redis");
}

void Interpreter::count_instructions() {
  lua_pushlightuserdata(lua_, &instructions_);
  lua_setfield(lua_, LUA_REGISTRYINDEX, kInstructions);
  const lua_Hook count = [](lua_State* lua, lua_Debug*) {
    lua_getfield(lua, LUA_REGISTRYINDEX, kInstructions);
    ++*static_cast<std::int64_t*>(lua_touserdata(lua, -1));
    lua_pop(lua, 1);
  };
  lua_sethook(lua_, count, LUA_MASKCOUNT, 1);
}

Interpreter::~Interpreter() { lua_close(lua_); }

int Interpreter::compiled(const Script& script) {
  const auto found = compiled_.find(&script);
  if (found != compiled_.end()) return found->second;
  const std::string name{script.name};
  std::string source{script.source};
  if (std::ifstream file{file_of(folder_, script)}; !folder_.empty() && file)
    source.assign(std::istreambuf_iterator<char>{file}, {});
  if (luaL_loadbuffer(lua_, source.data(), source.size(), name.c_str()) != 0)
    throw std::runtime_error{text_at(lua_, -1)};
  return compiled_[&script] = luaL_ref(lua_, LUA_REGISTRYINDEX);
}

Reply Interpreter::run(const Call& call, Store& store) {
  const int function = compiled(*call.script);
  lua_pushlightuserdata(lua_, &store);
  lua_setfield(lua_, LUA_REGISTRYINDEX, kStore);
  set_global(lua_, "KEYS", call.keys);
  set_global(lua_, "ARGV", call.args);
  lua_rawgeti(lua_, LUA_REGISTRYINDEX, function);
  const bool failed = lua_pcall(lua_, 0, 1, 0) != 0;
  Reply reply = reply_at(lua_, lua_gettop(lua_));
  if (failed && !reply.is_error()) reply = Reply::error("ERR " + text_at(lua_, -1));
  lua_settop(lua_, 0);
  return reply;
}

}  // namespace rlock::model
