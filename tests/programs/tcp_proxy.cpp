// The fault proxy as a program, for scripts: tcp_proxy SERVER [PORT], with SERVER unix:/path or host:port.
//
// Prints the port it listens on. Then it obeys one line of stdin after the other, and answers each by "ok". A
// line is "drop to_client", "pass", "delay to_server 100", ... (TcpProxy::obey). It ends with its stdin.
#include <iostream>
#include <string>

#include "support/tcp_proxy.h"

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: tcp_proxy SERVER [PORT]\n";
    return 64;
  }
  const auto port = argc > 2 ? static_cast<std::uint16_t>(std::stoi(argv[2])) : std::uint16_t{0};
  rlock::test::TcpProxy proxy{argv[1], port};
  std::cout << proxy.port() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      proxy.obey(line);
      std::cout << "ok" << std::endl;
    } catch (const std::invalid_argument& error) {
      std::cout << "error: " << error.what() << std::endl;
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "tcp_proxy: " << error.what() << '\n';
  return 1;
}
