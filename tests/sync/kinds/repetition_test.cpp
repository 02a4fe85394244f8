// A lost answer makes rlock send a script a second time. The second copy changes nothing. It gets the same
// answer, or the one in the row's `again`.

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "base/text.h"
#include "scripts.h"
#include "support/contains.h"
#include "support/direct.h"
#include "support/named_call.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// One row of the table.
struct Repetition {
  std::string script;
  std::string before;   ///< the calls before it, separated by semicolons: commands, or lines of named_call()
  std::string values;   ///< what the script gets, as in named_call()
  std::string answer;   ///< N stands for a number of twelve digits or more, a final ... for any end
  std::string again{};  ///< the second copy's answer; empty: the same one

  Call call() const { return named_call(script + " " + values); }
};

const std::string kTwoLocks =
    "lock/acquire lock=a -memory | lock/release lock=a silent=1 | "
    "lock/acquire lock=b -memory | lock/release lock=b silent=1";

// The lock is k; the owners are o and p; ch is a channel. The key r is the memory of a request. A lease has 9 s.
const Repetition kRepetitions[] = {
    {"lock/acquire", "", "-memory", "['held', N]"},
    {"lock/acquire", "HSET k o 2", "-memory", "['held', N]"},
    {"lock/acquire", "", "line request waited=-1", "['held', N]"},
    {"lock/acquire", "SET r undone", "line request waited=-1", "['not_ours']"},
    {"lock/acquire", "HSET k o 1;SET c 0123456789abcdef0123456789abcdef",
     "line request=0123456789abcdef0123456789abcdee shares waited=-1", "['held', N]"},
    {"lock/acquire", "HSET k p 1", "line", "['busy', 2000, -1, 1, 1, 'p']"},
    {"quorum/lock_acquire", "", "-memory", "['held', N]"},
    {"quorum/lock_acquire", "HSET k p 1", "line waited=-1", "['busy', -1, -1, 0, 0, 'p']"},
    {"quorum/lock_release", "HSET k o 1", "line request", "['released', '']", "['not_ours']"},
    {"quorum/read_acquire", "", "-line -waited", "['held', N]"},
    {"quorum/read_release", "HSET k mode read o 1;SET t 1", "-beside", "['released', '']", "['not_ours']"},
    {"quorum/write_acquire", "", "-line -waited", "['held', N]"},
    {"quorum/write_release", "HSET k mode write o:write 1", "line request", "['released', '']",
     "['not_ours']"},
    {"quorum/multi_lock", "",
     "quorum/lock_acquire lock=a -memory | quorum/lock_release lock=a silent=1 | "
     "quorum/lock_acquire lock=b -memory | quorum/lock_release lock=b silent=1",
     "['held', [['held', N], ['held', N]]]"},
    {"quorum/multi_read", "",
     "quorum/read_acquire lock=a -line -waited | quorum/read_release lock=a -line silent=1 -beside",
     "['held', [['held', N]]]"},
    {"quorum/multi_write", "",
     "quorum/write_acquire lock=a -line -waited | quorum/write_release lock=a silent=1",
     "['held', [['held', N]]]"},
    {"once/lock_release", "HSET k o 1", "line request keep=e keep_until=9999999999999", "['kept', N]"},
    {"once/lock_release", "HSET k p 1", "line request keep=e keep_until=9999999999999", "['not_ours']"},
    {"once/fair_release", "HSET k o 1", "queue=q,z,w line=l,lw,lf request keep=e keep_until=9999999999999",
     "['kept', N]"},
    {"once/lock_release", "HSET k o 1", "line request keep=e keep_until=9999999999999 way=again",
     "['kept', N]"},
    {"once/status", "HSET k o 1;once/lock_release line request keep=e keep_until=9999999999999", "",
     "['done', N, N, N, 'me']"},
    {"once/status", "HSET k o 1;SET d p", "", "['not_done']"},
    {"inspect/free", "", "locks=k,l", "['free', N]"},
    {"inspect/free", "HSET k p 1", "locks=l,k", "['busy', 2, -1, 'p']"},
    {"inspect/free", "RPUSH k p", "locks=l,k", "['foreign', 2, 'list']"},
    {"lock/enter", "HSET k o 1", "", "['held', N]"},
    {"lock/release", "HSET k o 3;SET r 1", "line request way=undo", "['still_held']", "['not_ours']"},
    {"lock/release", "HSET k o 1;SET r 1", "line request way=undo", "['released', '']", "['not_ours']"},
    {"lock/release", "", "line request way=undo", "['not_ours']"},
    {"lock/renew", "HSET k o 1", "", "'renewed'"},
    {"lock/renew", "HSET k o 2;SET r 1", "request memory", "'renewed'"},
    {"lock/renew", "HSET k o 2;SET r undone", "request memory", "'not_ours'"},
    {"lock/renew", "HSET k o 1", "request memory", "'not_ours'"},
    {"lock/renew", "HSET k o 1;SET c r", "request shares memory", "'renewed'"},
    {"lock/renew", "HSET k o 1", "request shares memory", "'renewed'"},
    {"lock/renew", "HSET k o 1;SET c q", "request shares memory", "'not_ours'"},
    {"lock/release", "HSET k o 1", "", "['released', '']", "['not_ours']"},
    {"lock/release", "HSET k o 1", "line request", "['released', '']", "['not_ours']"},
    {"lock/release", "HSET k o 1", "line request way=again", "['released', '']"},
    {"lock/release", "HSET k o 1;SET c r", "line request=r:released keep shares way=again",
     "['released', '']"},
    {"lock/release", "HSET k o 1;SET c q", "line request=r:released keep shares way=again",
     "['not_ours', '']"},
    // Another acquire shares the hold.
    {"lock/release", "HSET k o 1;SET c 0123456789abcdef0123456789abcdefr",
     "line request=r:released keep shares way=again", "['still_held']"},
    {"lock/release", "HSET k o 1;SET c 0123456789abcdef0123456789abcdefr",
     "line request=r:released keep shares keep_until=9999999999999 way=again", "['kept', N]"},
    {"lock/release", "HSET k o 1;SET of:o 0123456789abcdef0123456789abcdefr", "line request way=undo",
     "['not_ours']"},
    {"fair/release", "HSET k o 1;SET c 0123456789abcdef0123456789abcdefr",
     "line=l,lw,lf request=r:released keep shares way=again", "['still_held']"},
    {"read/release", "HSET k mode read o 1;SET t 1;SET c 0123456789abcdef0123456789abcdefr",
     "request=r:released keep shares way=again -beside", "['still_held']"},
    {"write/release", "HSET k mode write o:write 1;SET c 0123456789abcdef0123456789abcdefr",
     "line request=r:released keep shares way=again", "['still_held']"},
    {"plain/release", "SET k o;SET c 0123456789abcdef0123456789abcdefr",
     "inner request=r:released keep shares way=again", "['still_held']"},
    {"lock/release", "HSET k o 3", "line request", "['still_held']"},
    {"lock/release", "HSET k o 1", "keep_until=9999999999999", "['kept', N]"},
    {"lock/release", "HSET k o 1", "line request keep keep_until=9999999999999 way=again", "['kept', N]"},
    {"lock/release", "HSET k o 3", "line request keep keep_until=9999999999999 way=again", "['kept', N]"},
    {"fair/release", "HSET k o 1;RPUSH q p;ZADD d 9999999999999 p", "", "['released', '']", "['not_ours']"},
    {"lock/force", "HSET k o 1", "-line owner=''", "['removed', '']", "['absent']"},

    {"fair/acquire", "", "", "['held', N]"},
    {"fair/acquire", "HSET k p 1", "", "['busy', -1, -1, 1, 1, 'p']"},
    {"fair/release", "HSET k o 1", "line=l,lw,lf request", "['released', '']", "['not_ours']"},
    {"fair/release", "HSET k p 1;fair/acquire", "line=l,lw,lf request", "['not_ours']"},
    {"fair/release", "HSET k o 1", "line=l,lw,lf request keep keep_until=9999999999999 way=again",
     "['kept', N]"},

    {"fenced/acquire", "SET t 4", "-line -memory", "['held', N, 5]"},
    {"fenced/enter", "HSET k o 1;SET t 4", "", "['held', N, 5]"},

    {"newest/arrive", "", "kind=lock ticket=1700000000000000", "['held', N, N]"},
    {"lock/acquire", "newest/arrive kind=lock ticket=5", "line ticket=4", "['superseded', 'me']"},

    {"plain/acquire", "", "-memory", "['held', N]"},
    {"plain/enter", "SET k o PX 5000", "", "['held', N]"},
    {"plain/enter", "SET k o PX 5000", "inner request memory", "['held', N]"},
    {"plain/enter", "SET k o PX 5000;SET r undone", "inner request memory", "['not_ours']"},
    {"plain/renew", "SET k o", "", "'renewed'"},
    {"plain/renew", "SET k o", "inner request memory", "'not_ours'"},
    {"plain/renew", "SET k o;SET r 1", "inner request memory", "'renewed'"},
    {"plain/renew", "SET k o;SET c r", "inner request shares memory", "'renewed'"},
    {"plain/renew", "SET k o;SET c q", "inner request shares memory", "'not_ours'"},
    {"plain/release", "SET k o", "", "['released', '']", "['not_ours']"},
    {"plain/release", "SET k o", "inner request way=again", "['released', '']"},
    {"plain/release", "SET k o;SET c q", "inner request=r:released keep shares way=again",
     "['not_ours', '']"},
    {"plain/release", "SET k o;SET r 1", "inner request way=undo", "['released', '']", "['not_ours']"},
    {"plain/release", "SET k o", "keep_until=9999999999999", "['kept', N]"},
    {"plain/release", "SET k o", "inner request keep keep_until=9999999999999 way=again", "['kept', N]"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r",
     "inner request=q keep keep_until=9999999999999 way=again", "['kept', N]"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r", "inner request=q", "['still_held']"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r", "inner request=q way=again", "['still_held']"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r", "inner request=q keep keep_until=9999999999999",
     "['kept', N]"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r;SET r 1", "inner request way=undo inside=1",
     "['still_held']", "['not_ours']"},
    {"plain/release", "SET k o;ZADD i 9999999999999 r -1 over;SET r 1", "inner request way=undo inside=1",
     "['released', '']", "['not_ours']"},
    {"plain/force", "SET k o", "owner=''", "['removed', '']", "['absent']"},

    {"read/acquire", "", "-line -waited", "['held', N]"},
    {"read/acquire", "HSET k mode read o 1;SET t 1", "request waited=-1 another=1", "['held', N]"},
    {"read/acquire", "HSET k mode read o 1;SET t 1;SET c 0123456789abcdef0123456789abcdef",
     "request=0123456789abcdef0123456789abcdee shares waited=-1 another=0", "['held', N]"},
    {"read/renew", "HSET k mode read o 1;SET t 1", "", "'renewed'"},
    {"read/renew", "HSET k mode read o 1;SET t 1;SET c q", "request shares memory", "'not_ours'"},
    {"read/release", "HSET k mode read o 1;SET t 1", "-beside", "['released', '']", "['not_ours']"},
    {"read/release", "HSET k mode read o 3;SET t 1", "-beside", "['still_held']"},
    {"read/release", "HSET k mode read o 3;SET r 1", "way=undo -beside", "['still_held']", "['not_ours']"},
    {"read/release", "HSET k mode read o 1 p 1", "beside=b", "['released', '']", "['not_ours']"},
    {"read/release", "HSET k mode read o 1 p 1;SET bp:rwlock_timeout:1 1 PX 60000", "beside=b",
     "['released', '']", "['not_ours']"},
    {"read/release", "HSET k mode read o 1", "keep_until=9999999999999 -beside", "['kept', N]"},
    {"read/release", "HSET k mode read o 1", "keep keep_until=9999999999999 way=again -beside",
     "['kept', N]"},
    {"read/release", "HSET k mode read o 3", "keep keep_until=9999999999999 way=again -beside",
     "['kept', N]"},
    {"write/acquire", "", "-line -waited", "['held', N]"},
    {"write/acquire", "HSET k mode write o:write 1", "request waited=-1 another=1", "['held', N]"},
    {"write/acquire", "HSET k mode write o:write 1;SET c 0123456789abcdef0123456789abcdef",
     "request=0123456789abcdef0123456789abcdee shares waited=-1 another=0", "['held', N]"},
    {"read/renew", "HSET k mode read o 2;SET t 1;SET r undone", "request memory", "'not_ours'"},
    {"write/renew", "HSET k mode write o:write 1", "", "'renewed'"},
    {"write/renew", "HSET k mode write o:write 2;SET r undone", "request memory", "'not_ours'"},
    {"write/renew", "HSET k mode write o:write 1;SET c q", "request shares memory", "'not_ours'"},
    {"write/release", "HSET k mode write o:write 1", "line request", "['released', '']", "['not_ours']"},
    {"write/release", "HSET k mode write o:write 1 o 1", "line request", "['released', '']", "['not_ours']"},
    {"write/release", "HSET k mode write o:write 3", "line request", "['still_held']"},
    {"write/release", "HSET k mode write o:write 3;SET r 1", "line request way=undo", "['still_held']",
     "['not_ours']"},
    {"write/release", "HSET k mode write o:write 1", "line request keep keep_until=9999999999999 way=again",
     "['kept', N]"},
    {"write/release", "HSET k mode write o:write 1 o 1",
     "line request keep keep_until=9999999999999 way=again", "['kept', N]"},
    {"write/release", "HSET k mode write o:write 3", "line request keep keep_until=9999999999999 way=again",
     "['kept', N]"},
    {"read_write/force", "HSET k mode read o 1", "-line owner='' beside=b:", "['removed', '']", "['absent']"},
    {"read_write/force", "HSET k mode read o 1 p 1;SET b:p:rwlock_timeout:1 1 PX 9000;PEXPIRE k 99000",
     "-line beside=b:", "['removed', '']", "['other_owner', 'p']"},

    {"multi/lock", "", kTwoLocks, "['held', [['held', N], ['held', N]]]"},
    {"multi/lock", "HSET b p 1", kTwoLocks, "['not_all', 2, ['busy', -1, -1, 0, 0, 'p']]"},
    {"multi/lock", "HSET a o 1;HSET b o 1", "undo " + kTwoLocks,
     "['released', [['released', ''], ['released', '']]]", "['released', [['not_ours'], ['not_ours']]]"},
    {"multi/fair", "",
     "fair/acquire lock=a queue=aq,ad,aw | fair/release lock=a queue=aq,ad,aw line=l,lw,lf request",
     "['held', [['held', N]]]"},
    {"multi/fenced", "", "fenced/acquire lock=a -line -memory | lock/release lock=a silent=1",
     "['held', [['held', N, 1]]]"},
    {"multi/plain", "", "plain/acquire lock=a -memory | plain/release lock=a", "['held', [['held', N]]]"},
    {"multi/read", "", "read/acquire lock=a -line -waited | read/release lock=a -line silent=1 -beside",
     "['held', [['held', N]]]"},
    {"multi/write", "", "write/acquire lock=a -line -waited | write/release lock=a silent=1",
     "['held', [['held', N]]]"},

    {"counter/init", "", "", "['done', '']"},
    {"counter/init", "", "total=0 expire=60000", "['done', '']"},
    {"counter/init", "ZADD T 9999999999999 0123456789abcdef", "taken", "['done', '']"},
    {"counter/init", "", "taken slots resize=1", "['done', '']"},
    {"counter/init", "ZADD T 1 fedcba9876543210", "taken slots", "['done', '']"},
    {"counter/init", "SET k 2;ZADD T 9999999999999 0123456789abcdef;ZADD T 1 fedcba9876543210",
     "taken slots total=1 resize=1", "['done', '']"},
    {"counter/add", "SET k 3", "count=2", "['done', 5, '']"},
    {"counter/add", "SET k 3", "count=-2", "['done', 1, '']"},
    {"counter/delete", "SET k 3", "", "['done']"},
    {"semaphore/acquire", "SET k 3", "", "['held', N]"},
    {"semaphore/acquire", "SET k 0", "", "['busy', 2000, -2, 1, 1, '']"},
    {"semaphore/acquire", "", "absent=wait", "['busy', 2000, -2, 1, 1, '']"},
    {"semaphore/acquire", "SET r 0;SET k 3", "", "['busy', -2, -2, 0, 0, '']"},
    {"semaphore/undo", "SET k 1;SET r 1", "", "['released', '']", "['not_ours']"},
    {"semaphore/undo", "SET k 0;semaphore/acquire", "", "['not_ours']"},
    {"semaphore/undo", "SET k 3;semaphore/drain", "owner=''", "['released', '']", "['not_ours']"},
    {"semaphore/drain", "SET k 3", "", "['done', 3]"},
    {"semaphore/drain", "SET r 0;SET k 3", "", "['done', 0]"},
    {"semaphore/status", "SET k 3", "", "['found', 3]"},

    {"permit/acquire", "", "-line -memory", "['held', N, 'rk..."},
    {"permit/acquire", "", "inner request lease=0", "['held', N, 'rk..."},
    {"permit/acquire", "SET c q", "inner request shares", "['held', N, 'rk..."},
    {"permit/enter", "permit/acquire -line -memory", "", "['held', N, 'rk..."},
    {"permit/renew", "permit/acquire -line count=2 -memory", "count=2", "'renewed'"},
    {"permit/enter", "permit/acquire -line -memory;SET r 1", "inner request memory", "['held', N, 'rk..."},
    {"permit/renew", "permit/acquire -line count=2 -memory", "inner request count=2 memory", "'not_ours'"},
    {"permit/renew", "permit/acquire -line count=2 -memory;SET c q", "inner request shares count=2 memory",
     "'not_ours'"},
    {"permit/release", "permit/acquire -line count=2 -memory", "-line count=2", "['released', '']",
     "['not_ours']"},
    {"permit/release", "permit/acquire -line count=2 -memory", "inner request count=2 way=again",
     "['released', '']"},
    {"permit/release", "permit/acquire -line count=2 -memory;ZADD i 9999999999999 r",
     "inner request=q count=2 way=again", "['still_held']"},
    {"permit/release", "permit/acquire -line count=2 -memory;ZADD i 9999999999999 r -2 over;SET r 1",
     "inner request way=undo inside=1", "['released', '']", "['not_ours']"},
    {"permit/release", "permit/acquire -line count=2 -memory", "-line count=2 keep_until=9999999999999",
     "['kept', N]"},
    {"permit/release", "permit/acquire -line count=2 -memory",
     "inner request keep count=2 keep_until=9999999999999 way=again", "['kept', N]"},
    {"permit/release", "permit/acquire -line count=2 -memory;ZADD i 9999999999999 r",
     "inner request=q keep count=2 keep_until=9999999999999 way=again", "['kept', N]"},
    {"permit/release_ids", "SET k 2;ZADD T 9999999999999 0123456789abcdef", "-line ids=0123456789abcdef",
     "['', 1]"},
    {"permit/release_ids", "SET k 2", "-line ids=0123456789abcdef", "['', 0]"},
    {"permit/renew_ids", "SET k 2;ZADD T 9999999999999 0123456789abcdef", "ids=0123456789abcdef", "[1]"},
    {"permit/renew_ids", "SET k 2;ZADD T 9999999999999 0123456789abcdef", "lease=0 ids=0123456789abcdef",
     "[1]"},
    {"permit/status", "SET k 2", "", "['found', 2, 2, -2]"},
    {"permit/status", "SET k 2;ZADD T 922337203685477 0123456789abcdef", "id=0123456789abcdef",
     "['found', 2, 3, -1]"},
    {"permit/status", "SET k 2;ZADD T 1 0123456789abcdef", "id=0123456789abcdef", "['found', 3, 3, -2]"},

    {"latch/set", "", "total=2", "['done', '']"},
    {"latch/set", "", "total=2 expire=9000", "['done', '']"},
    {"latch/down", "SET k 3", "", "['done', 2, '']"},
    {"latch/down", "SET k 1", "", "['done', 0, '']"},
    {"latch/delete", "SET k 2", "", "['done', '']"},
    {"latch/record", "SET r set;SET k 2", "total=2", "'written'"},
    {"latch/record", "SET r 0", "total=''", "'written'"},
    {"latch/inspect", "SET k 2", "", "['closed', -1]"},
    {"latch/inspect", "SET k 2", "line owner waited channel sharded", "['closed', -1]"},
    {"latch/inspect", "latch/inspect latch=a line record owner waited channel sharded",
     "line owner waited channel sharded", "['open', N]"},
    {"latch/status", "SET k 2", "", "['found', 2]"},

    {"meta/write", "HSET k o 1", "facts={\"a\":1} ended=0", "'written'"},
    {"meta/erase", "HSET m o {}", "held member", "'erased'", "'absent'"},
    {"meta/erase_all", "HSET m o {}", "held", "'erased'", "'erased'"},
    {"meta/erase", "HSET m o {};HSET k o 1", "held history member when=ended since ended entry",
     "'still_held'"},
    {"meta/erase", "HSET m o {}", "held history waits=w member when=known since ended entry", "'erased'",
     "'absent'"},
    {"meta/erase", "ZADD h 100000000005 other", "held history member when=ended since ended entry",
     "'absent'"},
    {"history/read", "meta/erase held history member when=ended since ended entry", "most=20",
     "[N, 'o\\x0a{\"a\":1}']"},
    {"inspect/facts", "HSET m o f", "", "['o', 'f']"},
    {"inspect/content", "HSET k o:1 1;HSET h a 1", "keys=k,h kind=hash", "['lock:o:1', '']"},
    {"inspect/content", "HSET h a 1", "keys=k,h kind=any", "['', 'there']"},
    {"inspect/glance", "HSET k o 1;ZADD l 1 p;ZADD l 2 q", "queue_order=z asker=q",
     "[N, 'lock', -1, 0, 2, 2, '', 'o', '', -1, 1, '']"},
    {"inspect/probe", "HSET k o 1", "", "['able']"},
    {"inspect/key", "HSET k o 1", "queue=q,d,fw beside={k}: known=o",
     "[N, 'lock', -1, ['o', '1'], [], [], [], [], [], [], 1, 0, []]"},
    {"inspect/key",
     "HSET k mode read;HSET k o 2;HSET k p 1;HSET k q 9999;SET {k}:o:rwlock_timeout:2 1 PX 999999999999999",
     "queue=q,d,fw beside={k}: known=o",
     "[N, 'read-write', -1, ['mode', 'read', 'o', '2', 'p', '1', 'q', '9999'], [], [], [], [], [], [], 4, 0, [-1, N, -2, -1]]"},
};

/// Empties the server, and makes the calls before the script of a row.
void prepare(Direct& redis, const Repetition& row) {
  redis.run(command({"FLUSHALL"}));
  if (row.before.empty()) return;
  for (const std::string& line : split(row.before, ';')) {
    const Words words = split(line, ' ');
    redis.run(contains(words.front(), "/") ? named_call(line) : command(words));
  }
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
    prepare(redis, each);
    const Call call = each.call();
    const std::string first = without_moments(written(redis.run(call)));
    const std::string after = without_moments(contents(redis));
    const std::string second = without_moments(written(redis.run(call)));
    CHECK_MESSAGE(is(first, each.answer), first);
    CHECK(second == (each.again.empty() ? first : each.again));
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
  prepare(redis, row);
  if (memory != Memory::enough) redis.run(command({"CONFIG", "SET", "maxmemory", "1"}));
  const std::string begin = memory == Memory::none_behind_a_write ? "redis.call('del', '')\n" : "";
  const Call call = row.call();
  Words words{"EVAL", begin + std::string{call.script->source}, std::to_string(call.keys.size())};
  words.insert(words.end(), call.keys.begin(), call.keys.end());
  words.insert(words.end(), call.args.begin(), call.args.end());
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
      CHECK_MESSAGE(kNeedMemory.contains(each.script), each.script << got.answer);
      prepare(redis, each);
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
      CAPTURE(each.script);
      CAPTURE(each.before);
      prepare(redis, each);
      if (redis.run(command({"TYPE", "k"})).text() == "hash") redis.run(command({"PEXPIRE", "k", "60000"}));
      const std::string before = worth(), request = said("r");
      const Reply answer = half.run(each.call());
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
      prepare(redis, each);
      if (asker != nullptr) asker->run(each.call());
      return keys_without_ttl(redis);
    };
    const std::set<std::string> before = left_by(nullptr), wanted = left_by(&redis);
    for (const std::string& key : left_by(&half))
      CHECK_MESSAGE((before.contains(key) || wanted.contains(key)), key);
  }
}
