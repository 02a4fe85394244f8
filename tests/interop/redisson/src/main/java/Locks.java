import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/**
 * TYPE VERB NAME …, times in milliseconds. TYPE: lock fair fenced spin read write; multi (NAME: a,b,c);
 * red (NAME: client:key,client:key,…).
 *
 *     lock NAME [LEASE]   try NAME [WAIT [LEASE]]   unlock NAME   force NAME
 *     locked NAME         held NAME (by this thread)   count NAME    ttl NAME
 *     token NAME          lockAndGetToken of a fenced lock
 *     last NAME           its last token
 */
final class Locks {
  private final Map<String, RedissonClient> clients;
  private final RedissonClient redisson;

  Locks(Map<String, RedissonClient> clients, RedissonClient redisson) {
    this.clients = clients;
    this.redisson = redisson;
  }

  Object obey(String type, Deque<String> words) throws Exception {
    String verb = words.remove();
    RLock lock = named(type, words.remove());
    switch (verb) {
      case "lock":
        lock.lock(words.isEmpty() ? -1 : Counters.number(words), TimeUnit.MILLISECONDS);
        return null;
      case "try": {
        if (words.isEmpty()) return lock.tryLock();
        long wait = Counters.number(words);
        return lock.tryLock(wait, words.isEmpty() ? -1 : Counters.number(words), TimeUnit.MILLISECONDS);
      }
      case "unlock":
        lock.unlock();
        return null;
      case "force":
        return lock.forceUnlock();
      case "locked":
        return lock.isLocked();
      case "held":
        return lock.isHeldByCurrentThread();
      case "count":
        return lock.getHoldCount();
      case "ttl":
        return lock.remainTimeToLive();
      case "token":
        return fenced(lock, "lockAndGetToken");
      case "last":
        return fenced(lock, "getToken");
      default:
        throw new IllegalArgumentException(type + " " + verb);
    }
  }

  private RLock named(String type, String name) throws Exception {
    switch (type) {
      case "lock":
        return redisson.getLock(name);
      case "fair":
        return redisson.getFairLock(name);
      case "spin":
        return redisson.getSpinLock(name);
      case "read":
        return redisson.getReadWriteLock(name).readLock();
      case "write":
        return redisson.getReadWriteLock(name).writeLock();
      case "fenced":  // the classic release has none, so it is not named at compile time
        return (RLock) RedissonClient.class.getMethod("getFencedLock", String.class).invoke(redisson, name);
      case "multi":
        return redisson.getMultiLock(Arrays.stream(name.split(",")).map(redisson::getLock).toArray(RLock[]::new));
      case "red":
        return new RedissonRedLock(Arrays.stream(name.split(",")).map(this::elsewhere).toArray(RLock[]::new));
      default:
        throw new IllegalArgumentException("no type " + type);
    }
  }

  private RLock elsewhere(String clientAndKey) {
    String[] parts = clientAndKey.split(":", 2);
    return clients.get(parts[0]).getLock(parts[1]);
  }

  private static Object fenced(RLock lock, String method) throws Exception {
    return Class.forName("org.redisson.api.RFencedLock").getMethod(method).invoke(lock);
  }

  /** Settings and interface have moved between the releases, so neither is named at compile time. */
  static void mapNames(Config config, BaseConfig<?> server, String prefix) throws ReflectiveOperationException {
    for (Object settings : new Object[] {config, server}) {
      for (Method method : settings.getClass().getMethods()) {
        if (!method.getName().equals("setNameMapper")) continue;
        Class<?> mapper = method.getParameterTypes()[0];
        method.invoke(settings, Proxy.newProxyInstance(mapper.getClassLoader(), new Class<?>[] {mapper},
            (self, called, names) -> called.getName().equals("map")
                ? prefix + names[0]
                : ((String) names[0]).substring(prefix.length())));
        return;
      }
    }
    throw new NoSuchMethodException("setNameMapper");
  }
}
