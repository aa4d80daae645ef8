#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cmath>
#include <thread>

#include "matchmaker/latency.h"

namespace matchmaker {
namespace {

#ifdef _WIN32
using Handle = SOCKET;
constexpr Handle none = INVALID_SOCKET;
void shut(Handle s) { closesocket(s); }
int await(WSAPOLLFD* of, int ms) { return WSAPoll(of, 1, ms); }
using Waiting = WSAPOLLFD;
/** The datagram, or the wait, is to be left out: it was too long. */
bool passes() { return WSAGetLastError() == WSAEMSGSIZE; }
#else
using Handle = int;
constexpr Handle none = -1;
void shut(Handle s) { ::close(s); }
using Waiting = pollfd;
int await(Waiting* of, int ms) { return ::poll(of, 1, ms); }
bool passes() { return errno == EINTR; }
#endif

class Socket final : public Datagrams {
 public:
  explicit Socket(Handle s) : s_(s) {}
  ~Socket() override { shut(s_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool send(std::string_view bytes) override {
    return ::send(s_, bytes.data(), static_cast<int>(bytes.size()), 0) == static_cast<int>(bytes.size());
  }

  bool receive(std::string& bytes, double wait) override {
    bytes.clear();
    Waiting of{};
    of.fd = s_;
    of.events = POLLIN;
    const int ready = await(&of, static_cast<int>(std::ceil(wait)));
    if (ready <= 0) return ready < 0 && passes();
    char part[2048];
    const auto n = ::recv(s_, part, sizeof part, 0);
    if (n < 0) return passes();
    bytes.assign(part, static_cast<std::size_t>(n));
    return true;
  }

 private:
  Handle s_;
};

class SystemUdp final : public Udp {
 public:
#ifdef _WIN32
  SystemUdp() {
    WSADATA of;
    works = WSAStartup(MAKEWORD(2, 2), &of) == 0;
  }
  ~SystemUdp() override {
    if (works) WSACleanup();
  }
#endif
  bool works = true;

  bool run(std::function<void()> job) override {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    try {
      std::thread([job = std::move(job)] {
        try {
          job();
        } catch (...) {  // without memory, or without random numbers, the job is over
        }
      }).detach();
    } catch (...) {
      return false;
    }
#else
    std::thread(std::move(job)).detach();
#endif
    return true;
  }

  std::vector<std::unique_ptr<Datagrams>> open(const std::string& host, const std::string& port) override {
    std::vector<std::unique_ptr<Datagrams>> sockets;
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return sockets;
    for (const int family : {AF_INET, AF_INET6}) {
      const addrinfo* a = found;
      while (a != nullptr && a->ai_family != family) a = a->ai_next;
      const Handle s = a == nullptr ? none : ::socket(family, SOCK_DGRAM, IPPROTO_UDP);
      if (s == none) continue;
      auto socket = std::make_unique<Socket>(s);
      if (::connect(s, a->ai_addr, static_cast<socklen_t>(a->ai_addrlen)) == 0) sockets.push_back(std::move(socket));
    }
    freeaddrinfo(found);
    return sockets;
  }
};

}  // namespace

std::shared_ptr<Udp> systemUdp() {
  auto udp = std::make_shared<SystemUdp>();
  if (!udp->works) return nullptr;
  return udp;
}

}  // namespace matchmaker
