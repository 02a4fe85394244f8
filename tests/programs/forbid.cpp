// A sandbox that refuses one system call: forbid NUMBER ERRNO COMMAND [ARG...] runs COMMAND in it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <iterator>

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  const auto number = static_cast<unsigned>(std::atoi(argv[1]));
  const auto refusal = static_cast<unsigned>(std::atoi(argv[2]));
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | refusal),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{.len = std::size(filter), .filter = filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 125;
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 125;
  ::execvp(argv[3], argv + 3);
  return 126;
}
