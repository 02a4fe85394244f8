/* The command that the benchmarks run under each lock. It writes a line when it starts and a line when it ends, each in one write,
 * with nanoseconds of CLOCK_BOOTTIME. In between it waits.
 *
 *   stamp FILE MS      waits for MS milliseconds
 *   stamp FILE GATE    waits until the file GATE exists
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void note(int fd, const char *what) {
  struct timespec now;
  char line[64];
  clock_gettime(CLOCK_BOOTTIME, &now);
  const int size = snprintf(line, sizeof line, "%lld %s\n", now.tv_sec * 1000000000LL + now.tv_nsec, what);
  if (write(fd, line, (size_t)size) != size) exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3) return 64;
  const int fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return 1;
  note(fd, "start");
  if (strchr(argv[2], '/')) {
    while (access(argv[2], F_OK) != 0) usleep(200);
  } else {
    usleep((unsigned)atoi(argv[2]) * 1000);
  }
  note(fd, "end");
  return 0;
}
