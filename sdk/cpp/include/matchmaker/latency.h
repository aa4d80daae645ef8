#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/** How far regions are, and what proves it to the service. */
namespace matchmaker {

/** What was measured of a region. */
struct Latency {
  std::string region;
  /**
   * The median of the round trips in milliseconds, empty when no probe was answered. Where a region answers by IPv4 and
   * by IPv6, it is the shorter one. By HTTP, which waits for frames, it is the shortest round trip.
   */
  std::optional<double> rtt;
  /** How many probes were sent, and how many of them were not answered in time. */
  int sent = 0;
  int lost = 0;
  /** They prove the round trip to the service, one for each family of addresses. Only beacons give them. */
  std::vector<std::string> receipts;
};

/** The receipts of latencies, for `Values::receipts`. */
std::vector<std::string> receipts(const std::vector<Latency>& all);

struct MeasureOptions {
  /** A text that changes with the network that the device is on, if the game knows it. */
  std::string network;
  /** Measure, though the latencies of the network are known: the service refused a receipt, or the device roams. */
  bool anew = false;
  /** How often each region is asked, up to 20. */
  int probes = 5;
  /** How long an answer may take, in milliseconds, up to 2,000. */
  double timeout = 1000;
};

/** A socket of datagrams that is connected to one address. It is used on one thread, which may wait. */
class Datagrams {
 public:
  virtual ~Datagrams() = default;
  virtual bool send(std::string_view bytes) = 0;
  /** Waits for a datagram for so many milliseconds at most, and returns whether one came. */
  virtual bool receive(std::string& bytes, double wait) = 0;
};

/** The platform's sockets and threads, for measuring: an answer that waits for a frame would make regions seem far. */
class Udp {
 public:
  virtual ~Udp() = default;
  /** Runs a job on a thread of its own, or returns false. */
  virtual bool run(std::function<void()> job) = 0;
  /** Opens sockets to a host and port: one for each family of addresses. It is called on such threads. */
  virtual std::vector<std::unique_ptr<Datagrams>> open(const std::string& host, const std::string& port) = 0;
};

/** The sockets of POSIX and of Windows (the library `matchmaker-udp`); null if they cannot be used. */
std::shared_ptr<Udp> systemUdp();

}  // namespace matchmaker
