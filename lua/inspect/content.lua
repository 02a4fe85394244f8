-- Ask for each of many keys whether it may hold something that rlock knows. The script uses few and cheap commands for each key,
-- because a search through a whole database must not keep the server from its work. This script changes nothing.
--
-- KEYS  keys...
-- ARGV  kind   the type of all keys: `string` or `hash`. A key that has become something else makes the call fail. `any`: the
--              keys have any type, or do not exist
-- ->    {word, ...}  a word for each key:
--         number      a semaphore, the permits of a pool, or a latch
--         read-write
--         group       of a FasterMultiLock of Redisson
--         lock:OWNER  a hash whose only field has a count
--         there       the kind is any, and the key exists
--         ''          anything else
local field_of = include('redis/field_of')
local most = 99  -- more fields than a group of Redisson has in practice

local function text_content(key)
  local text = redis.call('getrange', key, 0, 16)
  return #text <= 16 and (text == '0' or text:find('^-?[1-9]%d*$')) and 'number' or ''
end

local function lock_content(key)
  local owner = redis.call('hkeys', key)[1]
  if #owner > 256 or not owner:find(':%d+$') then return '' end
  return (field_of(key, owner, 15) or ''):find('^[1-9]%d*$') and 'lock:' .. owner or ''
end

local function hash_content(key)
  local size = redis.call('hlen', key)
  if size == 1 then return lock_content(key) end
  local mode = field_of(key, 'mode', 5)
  if mode == 'read' or mode == 'write' then return 'read-write' end
  -- A group has three fields for each of its locks.
  for _, field in ipairs(size % 3 == 0 and size <= most and redis.call('hkeys', key) or {}) do
    if field:sub(-12) == ':expire_time' then return 'group' end
  end
  return ''
end

local function any_content(key) return redis.call('exists', key) == 1 and 'there' or '' end

local content_of = kind == 'hash' and hash_content or kind == 'string' and text_content or any_content
local words = {}
for i, key in ipairs(keys) do words[i] = content_of(key) end
return words
