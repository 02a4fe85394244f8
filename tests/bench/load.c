/* Many light clients of one server. Each sends again and again the bytes that rlock sends to acquire and to release a lock, and
 * reads the replies. All are one process with one epoll, so this measures the server, not the start of processes.
 *
 *   load ADDRESS STEPS SECONDS <NUMBERS      ADDRESS: the path of a Unix socket, or a port on loopback
 *
 * NUMBERS: the numbers of the clients, one for each connection. STEPS: a file that has, for each step, a line with the number of its
 * replies and of its bytes, and then the bytes. In the bytes, "\1\1\1\1\1\1\1" becomes the number of the client, and
 * "\2\2\2\2\2\2\2\2" a number that no other request has. Prints how often all steps were done, the number of error replies,
 * and the median and the longest time of a round in microseconds.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct step {
  int replies;
  size_t size;
  char *bytes;
};
struct client {
  int fd, number, step, waiting;
  long long began;
  char left[64]; /* the beginning of a line whose end has not arrived yet */
  size_t have;
  long long skip;   /* bytes of a bulk string that have not arrived yet */
  long long open[8]; /* the missing items of each array that has begun */
  int depth;
};
enum { kMost = 4, kTimes = 1 << 22 };

static struct step steps[kMost];
static int step_count;
static unsigned fresh, errors;
static unsigned *times, rounds;

static void must(int fact, const char *what) {
  if (fact) return;
  perror(what);
  exit(1);
}

static long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int dial(const char *address) {
  struct sockaddr_un path = {.sun_family = AF_UNIX};
  struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int is_path = strchr(address, '/') != NULL;
  snprintf(path.sun_path, sizeof path.sun_path, "%s", address);
  port.sin_port = htons((unsigned short)atoi(address));
  const int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
  must(fd >= 0, "socket");
  must(is_path ? connect(fd, (struct sockaddr *)&path, sizeof path) == 0
               : connect(fd, (struct sockaddr *)&port, sizeof port) == 0, "connect");
  return fd;
}

static void send_step(struct client *client) {
  const struct step *step = &steps[client->step];
  char out[65536], digits[9];
  must(step->size <= sizeof out, "a step is too long");
  memcpy(out, step->bytes, step->size);
  snprintf(digits, sizeof digits, "%08u", ++fresh % 100000000);
  for (char *at = out; at < out + step->size; ++at) {
    char number[8];
    snprintf(number, sizeof number, "%07u", (unsigned)client->number % 10000000);
    if (*at == 1) memcpy(at, number, 7);
    if (*at == 2) memcpy(at, digits, 8);
  }
  client->waiting = step->replies;
  must(write(client->fd, out, step->size) == (ssize_t)step->size, "write");
}

/* One whole value has arrived. */
static void count_value(struct client *client) {
  while (client->depth > 0 && --client->open[client->depth - 1] == 0) --client->depth;
  if (client->depth == 0) --client->waiting;
}

static void take_line(struct client *client, const char *line) {
  const long long number = atoll(line + 1);
  switch (*line) {
    case '*':
      must(client->depth < 8, "arrays in arrays");
      if (number > 0) client->open[client->depth++] = number;
      else count_value(client);
      return;
    case '$':
      if (number >= 0) client->skip = number + 2;
      else count_value(client);
      return;
    case '-':
      if (errors++ == 0) fprintf(stderr, "load: the server says: %s\n", line);
      count_value(client);
      return;
    default:
      count_value(client);
  }
}

static void take(struct client *client, const char *at, size_t size) {
  for (const char *end = at + size; at < end;) {
    if (client->skip > 0) {
      const long long some = end - at < client->skip ? end - at : client->skip;
      at += some;
      client->skip -= some;
      if (client->skip == 0) count_value(client);
    } else if (*at++ == '\n') {
      client->left[client->have] = 0;
      client->have = 0;
      take_line(client, client->left);
    } else if (client->have < sizeof client->left - 1) {
      client->left[client->have++] = at[-1];
    }
  }
}

static void advance(struct client *client) {
  if (client->waiting > 0) return;
  client->step = (client->step + 1) % step_count;
  if (client->step == 0) {
    const long long now = now_us();
    if (rounds < kTimes) times[rounds] = (unsigned)(now - client->began);
    ++rounds;
    client->began = now;
  }
  send_step(client);
}

static int by_size(const void *one, const void *other) {
  const unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  FILE *file = fopen(argv[2], "r");
  must(file != NULL, argv[2]);
  for (struct step *step = steps; step_count < kMost && fscanf(file, "%d %zu", &step->replies, &step->size) == 2; ++step) {
    must(fgetc(file) == '\n' && (step->bytes = malloc(step->size)) != NULL, argv[2]);
    must(fread(step->bytes, 1, step->size, file) == step->size, argv[2]);
    ++step_count;
  }
  const int poll = epoll_create1(0);
  times = malloc(kTimes * sizeof *times);
  for (int number; scanf("%d", &number) == 1;) {
    struct client *client = calloc(1, sizeof *client);
    client->number = number;
    client->fd = dial(argv[1]);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    must(epoll_ctl(poll, EPOLL_CTL_ADD, client->fd, &event) == 0, "epoll_ctl");
    client->began = now_us();
    send_step(client);
  }
  const long long until = now_us() + atoll(argv[3]) * 1000000;
  while (now_us() < until) {
    struct epoll_event ready[256];
    for (int i = epoll_wait(poll, ready, 256, 100); i-- > 0;) {
      struct client *client = ready[i].data.ptr;
      char in[65536];
      const ssize_t size = read(client->fd, in, sizeof in);
      must(size > 0, "the server ends a connection");
      take(client, in, (size_t)size);
      advance(client);
    }
  }
  const unsigned kept = rounds < kTimes ? rounds : kTimes;
  qsort(times, kept, sizeof *times, by_size);
  printf("%u %u %u %u\n", rounds, errors, kept ? times[kept / 2] : 0, kept ? times[kept - 1] : 0);
  return 0;
}
