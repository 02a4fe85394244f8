-- The scripts run inside Redis: no globals but these, and no standard library but what Redis opens.
std = {
  read_globals = {
    redis = {
      fields = { 'call', 'pcall', 'error_reply', 'status_reply', 'sha1hex', 'log', 'setresp',
                 'LOG_DEBUG', 'LOG_VERBOSE', 'LOG_NOTICE', 'LOG_WARNING' },
    },
    'include',   -- of lua/embed.cmake: the function of that name from lua/shared
    'script',    -- of lua/embed.cmake: that script as a function
    'names_of',  -- of lua/embed.cmake: the names of that script's KEYS and ARGV
    'KEYS', 'ARGV', 'cjson', 'cmsgpack', 'bit', 'struct',
    'assert', 'error', 'ipairs', 'next', 'pairs', 'pcall', 'select', 'tonumber', 'tostring', 'type', 'unpack',
    math = {}, string = {}, table = {},
  },
}
for _, library in ipairs({ 'math', 'string', 'table' }) do
  std.read_globals[library] = { other_fields = true }
end
max_line_length = 130
include_files = { 'lua/**/*.lua' }

-- The names that the contract at the head of a script gives to KEYS and ARGV, as lua/embed.cmake reads it.
local function names_in(path, names, only)
  local inside, section = false, nil
  for row in io.lines(path) do
    if not string.find(row, '^%-%-') then break end
    section = string.match(row, '^%-%- (%u%u%u%u)  ') or string.match(row, '^%-%- (%->)  ') or section
    inside = section and section ~= '->' and (not only or only == section)
    local text = string.match(row, '^%-%- %u+  (%l.*)$') or string.match(row, '^%-%-       (%l.*)$') or ''
    local others = string.match(text, '^those of ([%l_]+/[%l_]+)$')
    if inside and others then names_in('lua/' .. others .. '.lua', names, section) end
    if inside and not others then  -- of a row `line: order, waiters` the table, else each name
      local row = string.match(text, '^([%l_]+):') or string.match(text .. '  ', '^([%l_, .]-)%.*  ') or ''
      for name in string.gmatch(row, '[%l_]+') do names[#names + 1] = name end
    end
  end
  return names
end

files = {}
for path in io.popen('ls lua/*/*.lua'):lines() do
  local names = names_in(path, {})
  for row in io.lines(path) do
    local others = string.match(row, "names_of%('([%l_/]+)'")
    if others then names_in('lua/' .. others .. '.lua', names) end
  end
  files[path] = {globals = names}
end
