import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** The commands for semaphores, permits with leases, and latches. Times are milliseconds. */
final class Counters {
  private Counters() {}

  /**
   * permit set|add|resize NAME N | acquire NAME [LEASE] | try NAME WAIT [LEASE] | release NAME ID | renew NAME ID LEASE |
   * lease NAME ID | available NAME | delete NAME
   *
   * The classic release has neither resize (setPermits) nor lease (getLeaseTime), so they are not named at compile time.
   */
  static Object permit(RedissonClient redisson, Deque<String> words) throws Exception {
    String verb = words.remove();
    var permits = redisson.getPermitExpirableSemaphore(words.remove());
    switch (verb) {
      case "set":
        return permits.trySetPermits(Integer.parseInt(words.remove()));
      case "add":
        permits.addPermits(Integer.parseInt(words.remove()));
        return null;
      case "resize":
        return RPermitExpirableSemaphore.class.getMethod("setPermits", int.class).invoke(permits, (int) number(words));
      case "lease":
        return RPermitExpirableSemaphore.class.getMethod("getLeaseTime", String.class).invoke(permits, words.remove());
      case "acquire":
        return words.isEmpty() ? permits.acquire() : permits.acquire(number(words), TimeUnit.MILLISECONDS);
      case "try": {
        long wait = number(words);
        return permits.tryAcquire(wait, words.isEmpty() ? -1 : number(words), TimeUnit.MILLISECONDS);
      }
      case "release":
        return permits.tryRelease(words.remove());
      case "renew":
        return permits.updateLeaseTime(words.remove(), number(words), TimeUnit.MILLISECONDS);
      case "available":
        return permits.availablePermits();
      case "delete":
        return permits.delete();
      default:
        throw new IllegalArgumentException("permit " + verb);
    }
  }

  /** sem set|add NAME N | acquire NAME [N] | try NAME WAIT [N] | release NAME [N] | drain|available|delete NAME */
  static Object semaphore(RedissonClient redisson, Deque<String> words) throws InterruptedException {
    String verb = words.remove();
    var semaphore = redisson.getSemaphore(words.remove());
    switch (verb) {
      case "set":
        return semaphore.trySetPermits((int) number(words));
      case "add":
        semaphore.addPermits((int) number(words));
        return null;
      case "acquire":
        semaphore.acquire(words.isEmpty() ? 1 : (int) number(words));
        return null;
      case "try": {
        long wait = number(words);
        return semaphore.tryAcquire(words.isEmpty() ? 1 : (int) number(words), wait, TimeUnit.MILLISECONDS);
      }
      case "release":
        semaphore.release(words.isEmpty() ? 1 : (int) number(words));
        return null;
      case "drain":
        return semaphore.drainPermits();
      case "available":
        return semaphore.availablePermits();
      case "delete":
        return semaphore.delete();
      default:
        throw new IllegalArgumentException("sem " + verb);
    }
  }

  /** latch set NAME N | down|count|delete NAME | await NAME [WAIT] */
  static Object latch(RedissonClient redisson, Deque<String> words) throws InterruptedException {
    String verb = words.remove();
    var latch = redisson.getCountDownLatch(words.remove());
    switch (verb) {
      case "set":
        return latch.trySetCount(number(words));
      case "down":
        latch.countDown();
        return null;
      case "count":
        return latch.getCount();
      case "delete":
        return latch.delete();
      case "await":
        if (!words.isEmpty()) return latch.await(number(words), TimeUnit.MILLISECONDS);
        latch.await();
        return null;
      default:
        throw new IllegalArgumentException("latch " + verb);
    }
  }

  static long number(Deque<String> words) {
    return Long.parseLong(words.remove());
  }
}
