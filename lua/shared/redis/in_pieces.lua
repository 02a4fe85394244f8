-- Calls a command on `key` with all `words`, in several calls if they are too many for one. Pairs stay together.
local function in_pieces(command, key, words)
  for i = 1, #words, 1000 do redis.call(command, key, unpack(words, i, math.min(i + 999, #words))) end
end
return in_pieces
