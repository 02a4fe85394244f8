local rest_of_readers = include('hold/rest_of_readers')
local most_readers = 100  -- kReadersTake in src/sync/kinds/read_write.cpp has memory for the names of so many

-- The answer of read/release when a reader has left and the key is still there. nil: nobody else holds it any more.
-- An undo looks at once how long the others read, because nobody may read its answer. beside: see rest_of_reader
local function readers_left(lock, mode, way, beside)
  if mode == 'write' or redis.call('hlen', lock) - 1 > most_readers then return {'released', ''} end
  if way == 'undo' then
    local rest = rest_of_readers(lock, beside)
    if rest == -2 then return nil end
    if rest >= 0 and redis.call('pttl', lock) > rest then redis.call('pexpire', lock, math.max(rest, 1)) end
    return {'released', ''}
  end
  local others = {'readers'}
  local left = redis.call('hgetall', lock)
  for i = 1, #left, 2 do
    if left[i] ~= 'mode' then others[#others + 1], others[#others + 2] = left[i], left[i + 1] end
  end
  return others
end
return readers_left
