/* A library that is preloaded into a server. It sets the server's wall clock ahead by a number of nanoseconds: the 64 bit number in
   the file $CHAOS_CLOCK. A write to that file makes the clock jump. Monotonic clocks do not change. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *ahead;

__attribute__((constructor)) static void look(void) {
  const char *name = getenv("CHAOS_CLOCK");
  const int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *const map = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) ahead = map;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  const long answer = syscall(SYS_clock_gettime, clock, now);
  if (answer != 0 || ahead == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return (int)answer;
  const int64_t all = now->tv_sec * INT64_C(1000000000) + now->tv_nsec + *ahead;
  now->tv_sec = all / 1000000000;
  now->tv_nsec = all % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  const int answer = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return answer;
}

time_t time(time_t *into) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (into != NULL) *into = exact.tv_sec;
  return exact.tv_sec;
}
