// A lost answer makes rlock send a script a second time. The second copy changes nothing. It gets the same
// answer, or the one in the row's `again`.

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <string>

#include "base/text.h"
#include "scripts.h"
#include "support/contains.h"
#include "support/direct.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// One row of the table. Blanks separate words; '' is an empty word.
struct Repetition {
  const char* script;
  const char* before;  ///< the calls before it: commands, or scripts as NAME NUMKEYS KEY... ARG..., separated
                       ///< by semicolons
  const char* keys;    ///< KEYS of the script
  const char* arguments;        ///< ARGV
  const char* answer;           ///< N stands for a number of twelve digits or more, a final ... for any end
  const char* again = nullptr;  ///< the second copy's answer; nullptr: the same one
};

// The lock is k; the owners are o and p; ch is a channel. The key r is the memory of a request. A lease has 9 s.
const Repetition kRepetitions[] = {
    {"lock/acquire", "", "k", "o 9000", "['held', N]"},
    {"lock/acquire", "HSET k o 2", "k", "o 9000", "['held', N]"},
    {"lock/acquire", "", "k l w f r", "o 9000 9000 -1 ch 0", "['held', N]"},
    {"lock/acquire", "SET r undone", "k l w f r", "o 9000 9000 -1 ch 0", "['not_ours']"},
    {"lock/acquire", "HSET k o 1;SET c 0123456789abcdef0123456789abcdef",
     "k l w f 0123456789abcdef0123456789abcdee c", "o 9000 9000 -1 ch 0", "['held', N]"},
    {"lock/acquire", "HSET k p 1", "k l w f", "o 9000 9000 0 ch 0", "['busy', 2000, -1, 1, 1, 'p']"},
    {"quorum/lock_acquire", "", "k", "o 9000", "['held', N]"},
    {"quorum/lock_acquire", "HSET k p 1", "k l w f", "o 9000 9000 -1 ch 0", "['busy', -1, -1, 0, 0, 'p']"},
    {"quorum/lock_release", "HSET k o 1", "k l w f r", "o 9000 0 ch 0 9000 first 0", "['released', '']",
     "['not_ours']"},
    {"quorum/read_acquire", "", "k t", "o 9000 9000", "['held', N]"},
    {"quorum/read_release", "HSET k mode read o 1;SET t 1", "k t l w f r", "o 9000 0 ch 0 9000 first 0",
     "['released', '']", "['not_ours']"},
    {"quorum/write_acquire", "", "k", "o 9000 9000", "['held', N]"},
    {"quorum/write_release", "HSET k mode write o:write 1", "k l w f r", "o 9000 0 ch 0 9000 first 0",
     "['released', '']", "['not_ours']"},
    {"quorum/multi_lock", "", "a a b b",
     "2 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1",
     "['held', [['held', N], ['held', N]]]"},
    {"quorum/multi_read", "", "a t a t", "1 2 2 3 8 o 9000 9000 o 9000 0 ch 0 9000 first 1",
     "['held', [['held', N]]]"},
    {"quorum/multi_write", "", "a a", "1 1 1 3 8 o 9000 9000 o 9000 0 ch 0 9000 first 1",
     "['held', [['held', N]]]"},
    {"once/lock_release", "HSET k o 1", "d k l w f r e", "o 9000 9999999999999 ch 0 9000 first 0 me",
     "['kept', N]"},
    {"once/lock_release", "HSET k p 1", "d k l w f r e", "o 9000 9999999999999 ch 0 9000 first 0 me",
     "['not_ours']"},
    {"once/fair_release", "HSET k o 1", "d k q z w l lw lf r e", "o 9000 9999999999999 ch 0 9000 first 0 me",
     "['kept', N]"},
    {"once/lock_release", "HSET k o 1", "d k l w f r e", "o 9000 9999999999999 ch 0 9000 again 0 me",
     "['kept', N]"},
    {"once/status", "HSET k o 1;once/lock_release 7 d k l w f r e o 9000 9999999999999 ch 0 9000 first 0 me",
     "k d", "", "['done', N, N, N, 'me']"},
    {"once/status", "HSET k o 1;SET d p", "k d", "", "['not_done']"},
    {"inspect/free", "", "k l", "", "['free', N]"},
    {"inspect/free", "HSET k p 1", "l k", "", "['busy', 2, -1, 'p']"},
    {"inspect/free", "RPUSH k p", "l k", "", "['foreign', 2, 'list']"},
    {"lock/enter", "HSET k o 1", "k r", "o 9000 9000", "['held', N]"},
    {"lock/release", "HSET k o 3;SET r 1", "k l w f r", "o 9000 0 ch 0 9000 undo 0", "['still_held']",
     "['not_ours']"},
    {"lock/release", "HSET k o 1;SET r 1", "k l w f r", "o 9000 0 ch 0 9000 undo 0", "['released', '']",
     "['not_ours']"},
    {"lock/release", "", "k l w f r", "o 9000 0 ch 0 9000 undo 0", "['not_ours']"},
    {"lock/renew", "HSET k o 1", "k", "o 9000", "'renewed'"},
    {"lock/renew", "HSET k o 2;SET r 1", "k r", "o 9000 9000", "'renewed'"},
    {"lock/renew", "HSET k o 2;SET r undone", "k r", "o 9000 9000", "'not_ours'"},
    {"lock/renew", "HSET k o 1", "k r", "o 9000 9000", "'not_ours'"},
    {"lock/renew", "HSET k o 1;SET c r", "k r c", "o 9000 9000", "'renewed'"},
    {"lock/renew", "HSET k o 1", "k r c", "o 9000 9000", "'renewed'"},
    {"lock/renew", "HSET k o 1;SET c q", "k r c", "o 9000 9000", "'not_ours'"},
    {"lock/release", "HSET k o 1", "k", "o 9000 0 ch 0 9000 first 0", "['released', '']", "['not_ours']"},
    {"lock/release", "HSET k o 1", "k l w f r", "o 9000 0 ch 0 9000 first 0", "['released', '']",
     "['not_ours']"},
    {"lock/release", "HSET k o 1", "k l w f r", "o 9000 0 ch 0 9000 again 0", "['released', '']"},
    {"lock/release", "HSET k o 1;SET c r", "k l w f r:released K c", "o 9000 0 ch 0 9000 again 0",
     "['released', '']"},
    {"lock/release", "HSET k o 1;SET c q", "k l w f r:released K c", "o 9000 0 ch 0 9000 again 0",
     "['not_ours', '']"},
    // Another acquire shares the hold.
    {"lock/release", "HSET k o 1;SET c 0123456789abcdef0123456789abcdefr", "k l w f r:released K c",
     "o 9000 0 ch 0 9000 again 0", "['still_held']"},
    {"lock/release", "HSET k o 1;SET c 0123456789abcdef0123456789abcdefr", "k l w f r:released K c",
     "o 9000 9999999999999 ch 0 9000 again 0", "['kept', N]"},
    {"lock/release", "HSET k o 1;SET of:o 0123456789abcdef0123456789abcdefr", "k l w f r",
     "o 9000 0 ch 0 9000 undo 0", "['not_ours']"},
    {"fair/release", "HSET k o 1;SET c 0123456789abcdef0123456789abcdefr", "k q d w l lw lf r:released K c",
     "o 9000 0 ch 0 9000 again 0", "['still_held']"},
    {"read/release", "HSET k mode read o 1;SET t 1;SET c 0123456789abcdef0123456789abcdefr",
     "k t l w f r:released K c", "o 9000 0 ch 0 9000 again 0", "['still_held']"},
    {"write/release", "HSET k mode write o:write 1;SET c 0123456789abcdef0123456789abcdefr",
     "k l w f r:released K c", "o 9000 0 ch 0 9000 again 0", "['still_held']"},
    {"plain/release", "SET k o;SET c 0123456789abcdef0123456789abcdefr", "k i r:released K c",
     "o 0 9000 again 0", "['still_held']"},
    {"lock/release", "HSET k o 3", "k l w f r", "o 9000 0 ch 0 9000 first 0", "['still_held']"},
    {"lock/release", "HSET k o 1", "k", "o 9000 9999999999999 ch 0 9000 first 0", "['kept', N]"},
    {"lock/release", "HSET k o 1", "k l w f r K", "o 9000 9999999999999 ch 0 9000 again 0", "['kept', N]"},
    {"lock/release", "HSET k o 3", "k l w f r K", "o 9000 9999999999999 ch 0 9000 again 0", "['kept', N]"},
    {"fair/release", "HSET k o 1;RPUSH q p;ZADD d 9999999999999 p", "k q d w", "o 9000 0 ch 0 9000 first 0",
     "['released', '']", "['not_ours']"},
    {"lock/force", "HSET k o 1", "k q d w", "'' ch 0", "['removed', '']", "['absent']"},

    {"fair/acquire", "", "k q d w", "o 9000 9000 ch 0 9000 300000", "['held', N]"},
    {"fair/acquire", "HSET k p 1", "k q d w", "o 9000 9000 ch 0 9000 300000", "['busy', -1, -1, 1, 1, 'p']"},
    {"fair/release", "HSET k o 1", "k q d w l lw lf r", "o 9000 0 ch 0 9000 first 0", "['released', '']",
     "['not_ours']"},
    {"fair/release", "HSET k p 1;fair/acquire 4 k q d w o 9000 9000 ch 0 9000 300000", "k q d w l lw lf r",
     "o 9000 0 ch 0 9000 first 0", "['not_ours']"},
    {"fair/release", "HSET k o 1", "k q d w l lw lf r K", "o 9000 9999999999999 ch 0 9000 again 0",
     "['kept', N]"},

    {"fenced/acquire", "SET t 4", "k t", "o 9000", "['held', N, 5]"},
    {"fenced/enter", "HSET k o 1;SET t 4", "k t r", "o 9000 9000", "['held', N, 5]"},

    {"newest/arrive", "", "k l w f r", "me lock 1700000000000000 ch 0 9000", "['held', N, N]"},
    {"lock/acquire", "newest/arrive 5 k l w f r me lock 5 ch 0 9000", "k l w f", "o 9000 9000 0 ch 0 4",
     "['superseded', 'me']"},

    {"plain/acquire", "", "k", "o 9000", "['held', N]"},
    {"plain/enter", "SET k o PX 5000", "k", "o 9000", "['held', N]"},
    {"plain/enter", "SET k o PX 5000", "k i r", "o 9000 9000", "['held', N]"},
    {"plain/enter", "SET k o PX 5000;SET r undone", "k i r", "o 9000 9000", "['not_ours']"},
    {"plain/renew", "SET k o", "k", "o 9000", "'renewed'"},
    {"plain/renew", "SET k o", "k i r", "o 9000 9000", "'not_ours'"},
    {"plain/renew", "SET k o;SET r 1", "k i r", "o 9000 9000", "'renewed'"},
    {"plain/renew", "SET k o;SET c r", "k i r c", "o 9000 9000", "'renewed'"},
    {"plain/renew", "SET k o;SET c q", "k i r c", "o 9000 9000", "'not_ours'"},
    {"plain/release", "SET k o", "k", "o 0 9000 first 0", "['released', '']", "['not_ours']"},
    {"plain/release", "SET k o", "k i r", "o 0 9000 again 0", "['released', '']"},
    {"plain/release", "SET k o;SET c q", "k i r:released K c", "o 0 9000 again 0", "['not_ours', '']"},
    {"plain/release", "SET k o;SET r 1", "k i r", "o 0 9000 undo 0", "['released', '']", "['not_ours']"},
    {"plain/release", "SET k o", "k", "o 9999999999999 9000 first 0", "['kept', N]"},
    {"plain/release", "SET k o", "k i r K", "o 9999999999999 9000 again 0", "['kept', N]"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r", "k i q K", "o 9999999999999 9000 again 0",
     "['kept', N]"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r", "k i q", "o 0 9000 first 0", "['still_held']"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r", "k i q", "o 0 9000 again 0", "['still_held']"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r", "k i q K", "o 9999999999999 9000 first 0",
     "['kept', N]"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r;SET r 1", "k i r", "o 0 9000 undo 1", "['still_held']",
     "['not_ours']"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r -1 over;SET r 1", "k i r", "o 0 9000 undo 1",
     "['released', '']", "['not_ours']"},
    {"plain/force", "SET k o", "k", "''", "['removed', '']", "['absent']"},

    {"read/acquire", "", "k t", "o 9000 9000", "['held', N]"},
    {"read/acquire", "HSET k mode read o 1;SET t 1", "k t l w f r", "o 9000 9000 -1 ch 0 1", "['held', N]"},
    {"read/acquire", "HSET k mode read o 1;SET t 1;SET c 0123456789abcdef0123456789abcdef",
     "k t l w f 0123456789abcdef0123456789abcdee c", "o 9000 9000 9000 -1 ch 0 0", "['held', N]"},
    {"read/renew", "HSET k mode read o 1;SET t 1", "k t", "o 9000", "'renewed'"},
    {"read/renew", "HSET k mode read o 1;SET t 1;SET c q", "k t r c", "o 9000 9000", "'not_ours'"},
    {"read/release", "HSET k mode read o 1;SET t 1", "k t l w f r", "o 9000 0 ch 0 9000 first 0",
     "['released', '']", "['not_ours']"},
    {"read/release", "HSET k mode read o 3;SET t 1", "k t l w f r", "o 9000 0 ch 0 9000 first 0",
     "['still_held']"},
    {"read/release", "HSET k mode read o 3;SET r 1", "k t l w f r", "o 9000 0 ch 0 9000 undo 0",
     "['still_held']", "['not_ours']"},
    {"read/release", "HSET k mode read o 1 p 1", "k t l w f r", "o 9000 0 ch 0 9000 first 0 b",
     "['released', '']", "['not_ours']"},
    {"read/release", "HSET k mode read o 1 p 1;SET bp:rwlock_timeout:1 1 PX 60000", "k t l w f r",
     "o 9000 0 ch 0 9000 first 0 b", "['released', '']", "['not_ours']"},
    {"read/release", "HSET k mode read o 1", "k t l w f r", "o 9000 9999999999999 ch 0 9000 first 0",
     "['kept', N]"},
    {"read/release", "HSET k mode read o 1", "k t l w f r K", "o 9000 9999999999999 ch 0 9000 again 0",
     "['kept', N]"},
    {"read/release", "HSET k mode read o 3", "k t l w f r K", "o 9000 9999999999999 ch 0 9000 again 0",
     "['kept', N]"},
    {"write/acquire", "", "k", "o 9000 9000", "['held', N]"},
    {"write/acquire", "HSET k mode write o:write 1", "k l w f r", "o 9000 9000 -1 ch 0 1", "['held', N]"},
    {"write/acquire", "HSET k mode write o:write 1;SET c 0123456789abcdef0123456789abcdef",
     "k l w f 0123456789abcdef0123456789abcdee c", "o 9000 9000 9000 -1 ch 0 0", "['held', N]"},
    {"read/renew", "HSET k mode read o 2;SET t 1;SET r undone", "k t r", "o 9000 9000", "'not_ours'"},
    {"write/renew", "HSET k mode write o:write 1", "k", "o 9000", "'renewed'"},
    {"write/renew", "HSET k mode write o:write 2;SET r undone", "k r", "o 9000 9000", "'not_ours'"},
    {"write/renew", "HSET k mode write o:write 1;SET c q", "k r c", "o 9000 9000", "'not_ours'"},
    {"write/release", "HSET k mode write o:write 1", "k l w f r", "o 9000 0 ch 0 9000 first 0",
     "['released', '']", "['not_ours']"},
    {"write/release", "HSET k mode write o:write 1 o 1", "k l w f r", "o 9000 0 ch 0 9000 first 0",
     "['released', '']", "['not_ours']"},
    {"write/release", "HSET k mode write o:write 3", "k l w f r", "o 9000 0 ch 0 9000 first 0",
     "['still_held']"},
    {"write/release", "HSET k mode write o:write 3;SET r 1", "k l w f r", "o 9000 0 ch 0 9000 undo 0",
     "['still_held']", "['not_ours']"},
    {"write/release", "HSET k mode write o:write 1", "k l w f r K", "o 9000 9999999999999 ch 0 9000 again 0",
     "['kept', N]"},
    {"write/release", "HSET k mode write o:write 1 o 1", "k l w f r K",
     "o 9000 9999999999999 ch 0 9000 again 0", "['kept', N]"},
    {"write/release", "HSET k mode write o:write 3", "k l w f r K", "o 9000 9999999999999 ch 0 9000 again 0",
     "['kept', N]"},
    {"read_write/force", "HSET k mode read o 1", "k", "'' ch 0 b:", "['removed', '']", "['absent']"},
    {"read_write/force", "HSET k mode read o 1 p 1;SET b:p:rwlock_timeout:1 1 PX 9000;PEXPIRE k 99000", "k",
     "o ch 0 b:", "['removed', '']", "['other_owner', 'p']"},

    {"multi/lock", "", "a a b b",
     "2 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1",
     "['held', [['held', N], ['held', N]]]"},
    {"multi/lock", "HSET b p 1", "a a b b",
     "2 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1",
     "['not_all', 2, ['busy', -1, -1, 0, 0, 'p']]"},
    {"multi/lock", "HSET a o 1;HSET b o 1", "a a b b",
     "-2 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1 1 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1",
     "['released', [['released', ''], ['released', '']]]", "['released', [['not_ours'], ['not_ours']]]"},
    {"multi/fair", "", "a aq ad aw a aq ad aw l lw lf r",
     "1 4 8 7 8 o 9000 9000 ch 0 9000 300000 o 9000 0 ch 0 9000 first 0", "['held', [['held', N]]]"},
    {"multi/fenced", "", "a t a", "1 2 1 2 8 o 9000 o 9000 0 ch 0 9000 first 1",
     "['held', [['held', N, 1]]]"},
    {"multi/plain", "", "a a", "1 1 1 2 5 o 9000 o 0 9000 first 0", "['held', [['held', N]]]"},
    {"multi/read", "", "a t a t", "1 2 2 3 8 o 9000 9000 o 9000 0 ch 0 9000 first 1",
     "['held', [['held', N]]]"},
    {"multi/write", "", "a a", "1 1 1 3 8 o 9000 9000 o 9000 0 ch 0 9000 first 1", "['held', [['held', N]]]"},

    {"counter/init", "", "k r l w f", "3 ch 0 9000 0", "['done', '']"},
    {"counter/init", "", "k r l w f", "0 ch 0 9000 60000", "['done', '']"},
    {"counter/init", "ZADD T 9999999999999 0123456789abcdef", "k r l w f T", "3 ch 0 9000 0", "['done', '']"},
    {"counter/init", "", "k r l w f T s", "3 ch 0 9000 0 1", "['done', '']"},
    {"counter/init", "ZADD T 1 fedcba9876543210", "k r l w f T s", "3 ch 0 9000 0", "['done', '']"},
    {"counter/init", "SET k 2;ZADD T 9999999999999 0123456789abcdef;ZADD T 1 fedcba9876543210",
     "k r l w f T s", "1 ch 0 9000 0 1", "['done', '']"},
    {"counter/add", "SET k 3", "k r l w f", "2 ch 0 9000", "['done', 5, '']"},
    {"counter/add", "SET k 3", "k r l w f", "-2 ch 0 9000", "['done', 1, '']"},
    {"counter/delete", "SET k 3", "k r l w f", "ch 0 9000", "['done']"},
    {"semaphore/acquire", "SET k 3", "k r l w f", "o 1 9000 0 ch 0 ''", "['held', N]"},
    {"semaphore/acquire", "SET k 0", "k r l w f", "o 1 9000 0 ch 0 ''", "['busy', 2000, -2, 1, 1, '']"},
    {"semaphore/acquire", "", "k r l w f", "o 1 9000 0 ch 0 wait", "['busy', 2000, -2, 1, 1, '']"},
    {"semaphore/acquire", "SET r 0;SET k 3", "k r l w f", "o 1 9000 0 ch 0 ''", "['busy', -2, -2, 0, 0, '']"},
    {"semaphore/undo", "SET k 1;SET r 1", "k r l w f", "o ch 0 9000", "['released', '']", "['not_ours']"},
    {"semaphore/undo", "SET k 0;semaphore/acquire 5 k r l w f o 1 9000 0 ch 0 ''", "k r l w f", "o ch 0 9000",
     "['not_ours']"},
    {"semaphore/undo", "SET k 3;semaphore/drain 2 k r 9000", "k r l w f", "'' ch 0 9000", "['released', '']",
     "['not_ours']"},
    {"semaphore/drain", "SET k 3", "k r", "9000", "['done', 3]"},
    {"semaphore/drain", "SET r 0;SET k 3", "k r", "9000", "['done', 0]"},
    {"semaphore/status", "SET k 3", "k", "", "['found', 3]"},

    {"permit/acquire", "", "k T s", "o 1 9000 3 ch 0", "['held', N, 'rk..."},
    {"permit/acquire", "", "k T s l w f i r", "o 1 0 3 ch 0 9000 0", "['held', N, 'rk..."},
    {"permit/acquire", "SET c q", "k T s l w f i r c", "o 1 9000 3 ch 0 9000 0", "['held', N, 'rk..."},
    {"permit/enter", "permit/acquire 3 k T s o 1 9000 3 ch 0", "k T s", "o 1 9000 3", "['held', N, 'rk..."},
    {"permit/renew", "permit/acquire 3 k T s o 2 9000 3 ch 0", "k T s", "o 2 9000", "'renewed'"},
    {"permit/enter", "permit/acquire 3 k T s o 1 9000 3 ch 0;SET r 1", "k T s i r", "o 1 9000 3 9000",
     "['held', N, 'rk..."},
    {"permit/renew", "permit/acquire 3 k T s o 2 9000 3 ch 0", "k T s i r", "o 2 9000 9000", "'not_ours'"},
    {"permit/renew", "permit/acquire 3 k T s o 2 9000 3 ch 0;SET c q", "k T s i r c", "o 2 9000 9000",
     "'not_ours'"},
    {"permit/release", "permit/acquire 3 k T s o 2 9000 3 ch 0", "k T s", "o 2 0 ch 0 9000 first 0 0",
     "['released', '']", "['not_ours']"},
    {"permit/release", "permit/acquire 3 k T s o 2 9000 3 ch 0", "k T s l w f i r",
     "o 2 0 ch 0 9000 again 0 0", "['released', '']"},
    {"permit/release", "permit/acquire 3 k T s o 2 9000 3 ch 0;ZADD i 9999999999999 r", "k T s l w f i q",
     "o 2 0 ch 0 9000 again 0 0", "['still_held']"},
    {"permit/release", "permit/acquire 3 k T s o 2 9000 3 ch 0;ZADD i 9999999999999 r -2 over;SET r 1",
     "k T s l w f i r", "o 1 0 ch 0 9000 undo 1 0", "['released', '']", "['not_ours']"},
    {"permit/release", "permit/acquire 3 k T s o 2 9000 3 ch 0", "k T s",
     "o 2 9999999999999 ch 0 9000 first 0 0", "['kept', N]"},
    {"permit/release", "permit/acquire 3 k T s o 2 9000 3 ch 0", "k T s l w f i r K",
     "o 2 9999999999999 ch 0 9000 again 0 0", "['kept', N]"},
    {"permit/release", "permit/acquire 3 k T s o 2 9000 3 ch 0;ZADD i 9999999999999 r", "k T s l w f i q K",
     "o 2 9999999999999 ch 0 9000 again 0 0", "['kept', N]"},
    {"permit/release_ids", "SET k 2;ZADD T 9999999999999 0123456789abcdef", "k r T s",
     "ch 0 9000 0123456789abcdef", "['', 1]"},
    {"permit/release_ids", "SET k 2", "k r T s", "ch 0 9000 0123456789abcdef", "['', 0]"},
    {"permit/renew_ids", "SET k 2;ZADD T 9999999999999 0123456789abcdef", "k T", "9000 0123456789abcdef",
     "[1]"},
    {"permit/renew_ids", "SET k 2;ZADD T 9999999999999 0123456789abcdef", "k T", "0 0123456789abcdef", "[1]"},
    {"permit/status", "SET k 2", "k T", "", "['found', 2, 2, -2]"},
    {"permit/status", "SET k 2;ZADD T 922337203685477 0123456789abcdef", "k T", "0123456789abcdef",
     "['found', 2, 3, -1]"},
    {"permit/status", "SET k 2;ZADD T 1 0123456789abcdef", "k T", "0123456789abcdef", "['found', 3, 3, -2]"},

    {"latch/set", "", "k r", "2 0 ch 0 9000", "['done', '']"},
    {"latch/set", "", "k r", "2 9000 ch 0 9000", "['done', '']"},
    {"latch/down", "SET k 3", "k r", "1 ch 0 9000", "['done', 2, '']"},
    {"latch/down", "SET k 1", "k r", "1 ch 0 9000", "['done', 0, '']"},
    {"latch/delete", "SET k 2", "k r", "ch 0 9000", "['done', '']"},
    {"latch/record", "SET r set", "m r", "2 9000", "'written'"},
    {"latch/record", "SET r 0", "m r", "'' 9000", "'written'"},
    {"latch/inspect", "SET k 2", "k", "", "['closed', -1]"},
    {"latch/inspect", "SET k 2", "k l w f", "o 0 ch 0", "['closed', -1]"},
    {"latch/inspect", "latch/inspect 5 a l w f m o 0 ch 0", "k l w f", "o 0 ch 0", "['open', N]"},
    {"latch/status", "SET k 2", "k", "", "['found', 2]"},

    {"meta/write", "HSET k o 1", "m k", "o o 9000 {\"a\":1} 0", "'written'"},
    {"meta/erase", "HSET m o {}", "m k", "o o", "'erased'", "'absent'"},
    {"meta/erase", "HSET m o {};HSET k o 1", "m k h", "o o ended 100000000001 100000000009 {\"a\":1}",
     "'still_held'"},
    {"meta/erase", "HSET m o {}", "m k h w", "o o known 100000000001 100000000009 {\"a\":1}", "'erased'",
     "'absent'"},
    {"meta/erase", "ZADD h 100000000005 other", "m k h", "o o ended 100000000001 100000000009 {\"a\":1}",
     "'absent'"},
    {"history/read", "meta/erase 3 m k h o o ended 100000000001 100000000009 {\"a\":1}", "h", "20",
     "[N, 'o\\x0a{\"a\":1}']"},
    {"inspect/facts", "HSET m o f", "m k", "", "['o', 'f']"},
    {"inspect/content", "HSET k o:1 1;HSET h a 1", "k h", "hash", "['lock:o:1', '']"},
    {"inspect/content", "HSET h a 1", "k h", "any", "['', 'there']"},
    {"inspect/glance", "HSET k o 1;ZADD l 1 p;ZADD l 2 q", "k m T s z l", "q",
     "[N, 'lock', -1, 0, 2, 2, '', 'o', '', -1, 1, '']"},
    {"inspect/probe", "HSET k o 1", "k", "", "['able']"},
    {"inspect/key", "HSET k o 1", "k q d fw t T l w f", "{k}: o",
     "[N, 'lock', -1, ['o', '1'], [], [], [], [], [], [], 1, 0, []]"},
    {"inspect/key",
     "HSET k mode read;HSET k o 2;HSET k p 1;HSET k q 9999;SET {k}:o:rwlock_timeout:2 1 PX 999999999999999",
     "k q d fw t T l w f", "{k}: o",
     "[N, 'read-write', -1, ['mode', 'read', 'o', '2', 'p', '1', 'q', '9999'], [], [], [], [], [], [], 4, 0, [-1, N, -2, -1]]"},
};

std::vector<std::string> parts(const std::string& text, char separator) {
  std::vector<std::string> all;
  std::istringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) all.push_back(part == "''" ? "" : part);
  return all;
}

const Script& script_named(const std::string& name) {
  const auto found = std::ranges::find(scripts::all, name, [](const Script* script) { return script->name; });
  REQUIRE_MESSAGE(found != scripts::all.end(), name << " is no script");
  return **found;
}

/// Parses a command, or a script followed by the number of its keys.
Call call_of(const std::string& line) {
  auto words = parts(line, ' ');
  if (!contains(words[0], "/")) return command(words);
  const auto last_key = words.begin() + 2 + std::stoi(words[1]);
  return {.script = &script_named(words[0]),
          .keys = std::vector(words.begin() + 2, last_key),
          .args = std::vector(last_key, words.end())};
}

/// Replaces each number of twelve digits or more by N: times differ from run to run.
std::string without_moments(const std::string& text) {
  std::string all;
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if_not(at, text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (end - at >= 12) {
      all += 'N';
      at = end;
    } else {
      all += *at++;
    }
  }
  return all;
}

/// The keys without a TTL.
std::set<std::string> keys_without_ttl(Direct& redis) {
  std::set<std::string> keys;
  for (const std::string& line : split(contents(redis), '\n'))
    if (contains(line, " (stays) ")) keys.insert(line.substr(0, line.find(' ')));
  return keys;
}

bool is(const std::string& answer, const std::string& wanted) {
  if (!wanted.ends_with("...")) return answer == wanted;
  return answer.starts_with(wanted.substr(0, wanted.size() - 3));
}

}  // namespace

TEST_CASE("every script that is sent twice does nothing the second time, and answers the same") {
  RedisServer server;
  Direct redis{server};
  for (const Repetition& each : kRepetitions) {
    CAPTURE(each.script);
    CAPTURE(each.before);
    redis.run(command({"FLUSHALL"}));
    for (const auto& line : parts(each.before, ';')) redis.run(call_of(line));
    const Call call{.script = &script_named(each.script),
                    .keys = parts(each.keys, ' '),
                    .args = parts(each.arguments, ' ')};

    const std::string first = without_moments(written(redis.run(call)));
    const std::string after = without_moments(contents(redis));
    const std::string second = without_moments(written(redis.run(call)));
    CHECK_MESSAGE(is(first, each.answer), first);
    if (each.again == nullptr) CHECK(second == first);
    if (each.again != nullptr) CHECK(second == each.again);
    CHECK(without_moments(contents(redis)) == after);
  }
}

TEST_CASE("the table of repetitions contains every script") {
  std::set<std::string_view> there;
  for (const Repetition& each : kRepetitions) there.insert(each.script);
  for (const Script* script : scripts::all) CHECK_MESSAGE(there.contains(script->name), script->name);
}

/// The result of a script: its answer, and everything that the server holds.
struct Outcome {
  std::string answer;
  std::string contents;
  bool operator==(const Outcome&) const = default;
};

/// `none_behind_a_write`: the memory runs out after the first write of the script. (A server checks it only
/// at the first write.)
enum class Memory { enough, none, none_behind_a_write };
Outcome outcome_of(Direct& redis, const Repetition& row, Memory memory) {
  redis.run(command({"FLUSHALL"}));
  for (const auto& line : parts(row.before, ';')) redis.run(call_of(line));
  if (memory != Memory::enough) redis.run(command({"CONFIG", "SET", "maxmemory", "1"}));
  const std::string begin = memory == Memory::none_behind_a_write ? "redis.call('del', '')\n" : "";
  const auto keys = parts(row.keys, ' ');
  std::vector<std::string> words{"EVAL", begin + std::string{script_named(row.script).source},
                                 std::to_string(keys.size())};
  words.insert(words.end(), keys.begin(), keys.end());
  for (const std::string& argument : parts(row.arguments, ' ')) words.push_back(argument);
  const std::string answer = written(redis.run(command(words)));
  redis.run(command({"CONFIG", "SET", "maxmemory", "0"}));
  return {without_moments(answer), without_moments(contents(redis))};
}

// The scripts that fail without memory. They fail before their first write.
const std::set<std::string_view> kNeedMemory = {
    "plain/acquire", "multi/plain",     "permit/acquire", "semaphore/acquire",
    "counter/init",  "semaphore/drain", "latch/set",      "newest/arrive",
};

TEST_CASE("without memory a script works as always, or it fails before its first write") {
  RedisServer server;
  Direct redis{server};
  std::set<std::string_view> failed;
  for (const Repetition& each : kRepetitions) {
    CAPTURE(each.script);
    CAPTURE(each.before);
    const Outcome wanted = outcome_of(redis, each, Memory::enough);
    const Outcome got = outcome_of(redis, each, Memory::none);
    if (!contains(got.answer, "OOM")) {
      CHECK(got == wanted);
    } else {
      failed.insert(each.script);
      CHECK_MESSAGE(kNeedMemory.contains(each.script), std::string{each.script} << got.answer);
      redis.run(command({"FLUSHALL"}));
      for (const auto& line : parts(each.before, ';')) redis.run(call_of(line));
      CHECK(got.contents == without_moments(contents(redis)));
    }
  }
  CHECK(failed == kNeedMemory);
}

TEST_CASE("a script that has written is done to its end, though memory runs out meanwhile") {
  RedisServer server;
  Direct redis{server};
  for (const Repetition& each : kRepetitions) {
    CAPTURE(each.script);
    CAPTURE(each.before);
    const Outcome wanted = outcome_of(redis, each, Memory::enough);
    CHECK(outcome_of(redis, each, Memory::none_behind_a_write) == wanted);
  }
}

TEST_CASE(
    "a script that a missing right stops has not taken, given or counted, or what it did ends with a lease") {
  RedisServer server;
  Direct redis{server}, half{server};
  redis.run(command({"ACL", "SETUSER", "half", "on", "nopass", "~*", "&*", "+@all"}));
  half.run(command({"AUTH", "half", "x"}));
  const auto said = [&](const std::string& key) { return written(redis.run(command({"GET", key}))); };
  // What a lock or a counter is worth: for a pool also the permits that are taken.
  const auto worth = [&] {
    if (redis.run(command({"TYPE", "k"})).text() != "string")
      return written(redis.run(command({"EVAL", "return redis.call('hgetall', 'k')", "0"})));
    return written(redis.run(command({"EVAL",
                                      "local n = redis.call('get', 'k')\n"
                                      "local taken = redis.pcall('zcard', 'T')\n"
                                      "return tonumber(n) and tostring(n + (tonumber(taken) or 0)) or n",
                                      "0"})));
  };
  for (const std::string right : {"set", "hincrby", "hsetnx", "hset", "decrby", "incrby", "incr", "zadd",
                                  "zrem", "zremrangebyscore", "del", "hdel", "pexpire"}) {
    redis.run(command({"ACL", "SETUSER", "half", "+@all", "-" + right}));
    for (const Repetition& each : kRepetitions) {
      CAPTURE(right);
      CAPTURE(std::string{each.script});
      CAPTURE(std::string{each.before});
      redis.run(command({"FLUSHALL"}));
      for (const auto& line : parts(each.before, ';')) redis.run(call_of(line));
      if (redis.run(command({"TYPE", "k"})).text() == "hash") redis.run(command({"PEXPIRE", "k", "60000"}));
      const std::string before = worth(), request = said("r");
      const Reply answer = half.run({.script = &script_named(each.script),
                                     .keys = parts(each.keys, ' '),
                                     .args = parts(each.arguments, ' ')});
      if (!answer.is_error()) continue;
      const std::string script = each.script, after = worth();
      if (after == before) {
        // The request of an arrival is its time; to undo an inner hold of a plain lock, its place in `i` counts.
        const bool tells_nothing = script == "newest/arrive" || script == "plain/enter";
        const bool done =
            said("r") != request && said("r") != "nil" && said("r") != "'undone'" && said("r") != "'0'";
        CHECK_MESSAGE((tells_nothing || !done), "the request says that it was done: " << said("r"));
      } else {
        const bool given_back = after == "[]",
                   made_whole = before == "[]" && after == "'3'";  // the rows make pools of 3
        const bool ends = redis.run(command({"PTTL", "k"})).integer() > 0;
        CHECK_MESSAGE((given_back || made_whole || ends), before << " became " << after);
      }
    }
  }
}

TEST_CASE("without rights to set a TTL no script leaves a key without one") {
  RedisServer server;
  Direct redis{server}, half{server};
  redis.run(command({"ACL", "SETUSER", "half", "on", "nopass", "~*", "&*", "+@all", "-pexpire"}));
  half.run(command({"AUTH", "half", "x"}));
  for (const Repetition& each : kRepetitions) {
    CAPTURE(each.script);
    CAPTURE(each.before);
    const auto left_by = [&](Direct* asker) {
      redis.run(command({"FLUSHALL"}));
      for (const auto& line : parts(each.before, ';')) redis.run(call_of(line));
      if (asker != nullptr)
        asker->run({.script = &script_named(each.script),
                    .keys = parts(each.keys, ' '),
                    .args = parts(each.arguments, ' ')});
      return keys_without_ttl(redis);
    };
    const std::set<std::string> before = left_by(nullptr), wanted = left_by(&redis);
    for (const std::string& key : left_by(&half))
      CHECK_MESSAGE((before.contains(key) || wanted.contains(key)), key);
  }
}
