-- The scripts run inside Redis: no globals but these, and no standard library but what Redis opens.
std = {
  read_globals = {
    redis = {
      fields = { 'call', 'pcall', 'error_reply', 'status_reply', 'sha1hex', 'log', 'setresp', 'acl_check_cmd',
                 'LOG_DEBUG', 'LOG_VERBOSE', 'LOG_NOTICE', 'LOG_WARNING' },
    },
    'include',   -- of lua/embed.cmake: the function of that name from lua/shared
    'script',    -- of lua/embed.cmake: that script as a function
    'names_of',  -- of lua/embed.cmake: the names of that script's KEYS and ARGV
    'keys_of',   -- of lua/embed.cmake: the KEYS for that script
    'fields',    -- of lua/embed.cmake: the fields of a table, each with the value of that name
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

-- The names that the contract at the head of a script gives to KEYS and ARGV.
files = {}
for path, names in string.gmatch(io.popen('cmake -P lua/names.cmake 2>&1'):read('*a'), '([^;\n]+);?([^\n]*)\n') do
  files[path] = {globals = {}}
  for name in string.gmatch(names, '[^;]+') do table.insert(files[path].globals, name) end
end
