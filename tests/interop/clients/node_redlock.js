// node_redlock.js SERVERS KEY LEASE_MS: tries once to acquire KEY, and prints `held` or `busy`. If it holds KEY, it reads a line,
// releases KEY and prints `released`.
// SERVERS: paths of sockets, separated by commas.
const { Redis } = require('ioredis');
const Redlock = require('redlock');

const [servers, key, lease] = process.argv.slice(2);
const clients = servers.split(',').map((path) => new Redis({ path, maxRetriesPerRequest: 0 }));
clients.forEach((client) => client.on('error', () => {}));  // a dead server is outvoted
const redlock = new Redlock(clients, { retryCount: 0 });

async function main() {
  let lock;
  try {
    lock = await redlock.lock(key, Number(lease));
  } catch (error) {
    if (error.name !== 'LockError') throw error;
    console.log('busy');
    return;
  }
  console.log('held');
  await new Promise((resolve) => process.stdin.once('data', resolve).once('end', resolve));
  await lock.unlock();
  console.log('released');
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
