import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;

/**
 * Does with a real Redisson what its standard input says, a line each:
 *
 *     TAG CLIENT THREAD COMMAND…     ->     TAG NANOS ok [VALUE]   |   TAG NANOS error EXCEPTION: TEXT
 *
 * Every (CLIENT, THREAD) is one Java thread, made when first named, that does its lines in order; so a wait runs in
 * the background and answers when it is over. NANOS is CLOCK_MONOTONIC, which other processes of the machine read too.
 *
 *     open URL [watchdog MS] [prefix TEXT] [fairwait MS]     a RedissonClient; before anything else of that CLIENT
 *     owner                                    the owner id of this thread
 *     interrupt THREAD                         of the same client
 *     parked THREAD                            does it sleep until a message comes?
 *     lock | fair | fenced | spin | read | write | multi | red …    see Locks
 *     permit | sem | latch …                                        see Counters
 *
 * At the end of its input it ends without closing its clients, so their holds stay, as after a kill.
 */
public final class Driver {
  private final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();
  private final Map<String, Worker> workers = new ConcurrentHashMap<>();

  private static final class Worker {
    final ExecutorService executor;
    volatile Thread thread;

    Worker(String name) {
      executor = Executors.newSingleThreadExecutor(body -> {
        thread = new Thread(body, name);
        thread.setDaemon(true);
        return thread;
      });
    }
  }

  public static void main(String[] arguments) throws Exception {
    Driver driver = new Driver();
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      if (!line.isBlank()) driver.accept(line);
    }
    Runtime.getRuntime().halt(0);
  }

  private void accept(String line) {
    Deque<String> words = new ArrayDeque<>(Arrays.asList(line.trim().split(" +")));
    String tag = words.remove();
    String client = words.remove();
    String thread = words.remove();
    if (words.peek().equals("interrupt") || words.peek().equals("parked")) {  // done here, because the named thread sleeps
      boolean interrupt = words.remove().equals("interrupt");
      Thread meant = workers.get(client + "/" + words.remove()).thread;
      if (interrupt) meant.interrupt();
      answer(tag, interrupt ? "ok" : "ok " + isParked(meant));
      return;
    }
    workers.computeIfAbsent(client + "/" + thread, Worker::new).executor.execute(() -> {
      try {
        Object value = obey(client, words);
        answer(tag, value == null ? "ok" : "ok " + value);
      } catch (Throwable failure) {
        String text = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
        answer(tag, "error " + failure.getClass().getSimpleName() + ": " + text);
      }
    });
  }

  /** Redisson's waiters sleep on a local semaphore. If a message comes before they sleep, they may miss it. */
  private static boolean isParked(Thread thread) {
    return thread != null && Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals("java.util.concurrent.Semaphore"));
  }

  private static void answer(String tag, String text) {
    long now = System.nanoTime();
    synchronized (System.out) {
      System.out.println(tag + " " + now + " " + text);
      System.out.flush();
    }
  }

  private Object obey(String client, Deque<String> words) throws Exception {
    String command = words.remove();
    if (command.equals("open")) {
      clients.put(client, open(words));
      return null;
    }
    RedissonClient redisson = clients.get(client);
    if (redisson == null) throw new IllegalArgumentException("no client " + client);
    switch (command) {
      case "owner":
        return redisson.getId() + ":" + Thread.currentThread().getId();
      case "permit":
        return Counters.permit(redisson, words);
      case "sem":
        return Counters.semaphore(redisson, words);
      case "latch":
        return Counters.latch(redisson, words);
      default:
        return new Locks(clients, redisson).obey(command, words);
    }
  }

  private static RedissonClient open(Deque<String> words) throws ReflectiveOperationException {
    Config config = new Config();
    // Few threads and connections: the defaults (32 and 24) only make the start slow.
    config.setThreads(4).setNettyThreads(4);
    BaseConfig<?> server = servers(config, words.remove());
    while (!words.isEmpty()) {
      String option = words.remove();
      String value = words.remove();
      switch (option) {
        case "watchdog":
          config.setLockWatchdogTimeout(Long.parseLong(value));
          break;
        case "fairwait":  // the classic release has no such setting
          Config.class.getMethod("setFairLockWaitTimeout", long.class).invoke(config, Long.parseLong(value));
          break;
        case "prefix":
          Locks.mapNames(config, server, value);
          break;
        default:
          throw new IllegalArgumentException("no option " + option);
      }
    }
    return Redisson.create(config);
  }

  /** The servers of a URL, which rlock reads alike: redis:, redis+cluster://HOST:PORT, redis+sentinel://HOST:PORT/MASTER. */
  private static BaseConfig<?> servers(Config config, String url) {
    if (url.startsWith("redis+cluster:"))
      return few(config.useClusterServers().addNodeAddress(url.replace("+cluster", "")));
    if (url.startsWith("redis+sentinel:")) {
      int slash = url.lastIndexOf('/');
      var sentinel = config.useSentinelServers().setMasterName(url.substring(slash + 1));
      sentinel.setCheckSentinelsList(false);  // the check asks for two Sentinels
      return few(sentinel.addSentinelAddress(url.substring(0, slash).replace("+sentinel", "")));
    }
    var server = config.useSingleServer().setAddress(url);
    server.setConnectionMinimumIdleSize(2).setConnectionPoolSize(16);
    return server.setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(8);
  }

  private static BaseConfig<?> few(BaseMasterSlaveServersConfig<?> servers) {
    servers.setMasterConnectionMinimumIdleSize(2).setMasterConnectionPoolSize(16);
    servers.setSlaveConnectionMinimumIdleSize(1).setSlaveConnectionPoolSize(8);
    return servers.setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(8);
  }
}
