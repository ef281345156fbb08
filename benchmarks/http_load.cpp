// An open-loop load generator: requests leave when they are due, whatever became of earlier ones.
//
//   http_load PORT SECONDS PLAYERS SEED (NAME RATE CONNECTIONS REQUEST)...
//
// Each kind of request has a rate per second, connections of its own and a text, in which %d stands
// for a random player as twelve digits. Arrivals are a Poisson process from the seed. A request that
// finds all connections of its kind busy waits, and its latency counts from the moment it was due; so
// a server that stalls is charged for everybody who would have come meanwhile, and who is never answered
// waits for ever. The first second is not counted. It prints JSON: per kind the answers, failures, and
// percentiles of latency in milliseconds.
//
// It is C++ because a generator that shares a small machine with what it measures must be cheap: in
// Python it took a whole core, and what it measured was its own delay.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr double kWarmSeconds = 1;
constexpr double kDrainSecondsMax = 10;
constexpr int kPercentiles[] = {50, 95, 99};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Kind;

struct Connection {
  Kind* kind;
  int socket;
  double due = 0;
  std::string received;
};

struct Kind {
  std::string name;
  double rate;
  std::string before, after;
  bool has_player;
  std::mt19937_64 random;
  double due = 0;
  std::deque<double> waiting;
  std::vector<Connection*> idle;
  std::size_t connections = 0;
  std::vector<std::pair<double, double>> latencies;  // when it was due, seconds taken
  unsigned long failures = 0;

  // Requests that are due and not answered.
  std::size_t unanswered() const { return waiting.size() + connections - idle.size(); }

  double pause() { return std::exponential_distribution<double>(rate)(random); }

  std::string request(unsigned long players) {
    if (!has_player) return before;
    char player[24];
    std::snprintf(player, sizeof player, "%012lu", static_cast<unsigned long>(random() % players));
    return before + player + after;
  }
};

void ask(Connection& connection, double due, unsigned long players) {
  connection.due = due;
  const std::string text = connection.kind->request(players);
  const ssize_t sent = send(connection.socket, text.data(), text.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(text.size())) fail("send");  // they are short: buffers have room
}

// Whether a whole answer has arrived.
bool is_whole(const std::string& received) {
  const std::size_t head = received.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  const char* length = strcasestr(received.c_str(), "\r\ncontent-length:");
  const std::size_t body = length == nullptr ? 0 : std::strtoul(length + 17, nullptr, 10);
  return received.size() >= head + 4 + body;
}

void take(Connection& connection, unsigned long players) {
  char bytes[65536];
  const ssize_t count = recv(connection.socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) fail("the server closed a connection");
  connection.received.append(bytes, static_cast<std::size_t>(count));
  if (!is_whole(connection.received)) return;
  Kind& kind = *connection.kind;
  kind.failures += connection.received.compare(0, 12, "HTTP/1.1 200") != 0;
  connection.received.clear();
  kind.latencies.emplace_back(connection.due, now() - connection.due);
  if (kind.waiting.empty()) {
    kind.idle.push_back(&connection);
  } else {
    const double due = kind.waiting.front();
    kind.waiting.pop_front();
    ask(connection, due, players);
  }
}

void arrive(Kind& kind, double moment, unsigned long players) {
  for (; kind.due <= moment; kind.due += kind.pause()) kind.waiting.push_back(kind.due);
  while (!kind.waiting.empty() && !kind.idle.empty()) {
    Connection* connection = kind.idle.back();
    kind.idle.pop_back();
    const double due = kind.waiting.front();
    kind.waiting.pop_front();
    ask(*connection, due, players);
  }
}

int connect_to(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("connect");
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

void report(const Kind& kind, double since, bool is_last) {
  std::vector<double> taken;
  for (const auto& [due, seconds] : kind.latencies) {
    if (due >= since) taken.push_back(1000 * seconds);
  }
  const std::size_t answers = taken.size();
  taken.resize(answers + kind.unanswered(), std::numeric_limits<double>::infinity());
  std::sort(taken.begin(), taken.end());
  std::printf("\"%s\": {\"answers\": %zu, \"failures\": %lu", kind.name.c_str(), answers, kind.failures);
  for (const int percentile : kPercentiles) {
    const std::size_t at = taken.size() * static_cast<std::size_t>(percentile) / 100;
    const double value = taken.empty() ? INFINITY : taken[std::min(at, taken.size() - 1)];
    if (std::isinf(value)) {
      std::printf(", \"p%d\": Infinity", percentile);
    } else {
      std::printf(", \"p%d\": %.4f", percentile, value);
    }
  }
  std::printf("}%s", is_last ? "" : ", ");
}

void wake_at(int timer, double moment) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(moment);
  when.it_value.tv_nsec = static_cast<long>((moment - std::floor(moment)) * 1e9);
  if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr) != 0) fail("timerfd_settime");
}

}  // namespace

int main(int count, char** words) {
  if (count < 9 || count % 4 != 1) {
    std::fprintf(stderr, "usage: http_load PORT SECONDS PLAYERS SEED (NAME RATE CONNECTIONS REQUEST)...\n");
    return 2;
  }
  const int port = std::atoi(words[1]);
  const double seconds = std::atof(words[2]);
  const unsigned long players = std::strtoul(words[3], nullptr, 10);
  const unsigned long seed = std::strtoul(words[4], nullptr, 10);
  const int poll = epoll_create1(0);
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  if (poll < 0 || timer < 0) fail("epoll");
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);

  std::vector<std::unique_ptr<Kind>> kinds;
  std::vector<std::unique_ptr<Connection>> connections;
  for (int at = 5; at < count; at += 4) {
    const std::string text = words[at + 3];
    const std::size_t player = text.find("%d");
    const bool has_player = player != std::string::npos;
    kinds.push_back(std::make_unique<Kind>(Kind{
        words[at], std::atof(words[at + 1]), text.substr(0, player),
        has_player ? text.substr(player + 2) : "", has_player,
        std::mt19937_64(seed + static_cast<unsigned long>(at)), 0, {}, {}, 0, {}, 0}));
    for (int i = std::atoi(words[at + 2]); i > 0; --i) {
      connections.push_back(std::make_unique<Connection>(Connection{kinds.back().get(), connect_to(port), 0, {}}));
      kinds.back()->idle.push_back(connections.back().get());
      kinds.back()->connections += 1;
      event.data.ptr = connections.back().get();
      epoll_ctl(poll, EPOLL_CTL_ADD, connections.back()->socket, &event);
    }
  }

  const double begin = now();
  const double end = begin + kWarmSeconds + seconds;
  for (auto& kind : kinds) kind->due = begin + kind->pause();
  bool is_over = false;
  while (true) {
    const double moment = now();
    double next = end + kDrainSecondsMax;
    bool is_idle = true;
    for (auto& kind : kinds) {
      if (!is_over) arrive(*kind, std::min(moment, end), players);
      if (moment < end) next = std::min(next, kind->due);
      is_idle = is_idle && kind->unanswered() == 0;
    }
    is_over = moment >= end;
    if (is_over && (is_idle || moment >= end + kDrainSecondsMax)) break;
    wake_at(timer, next);
    epoll_event ready[64];
    const int found = epoll_wait(poll, ready, 64, -1);
    for (int i = 0; i < found; ++i) {
      auto* connection = static_cast<Connection*>(ready[i].data.ptr);
      if (connection != nullptr) {
        take(*connection, players);
      } else {
        unsigned long ticks;
        if (read(timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN) fail("read");
      }
    }
  }
  std::printf("{");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    report(*kinds[i], begin + kWarmSeconds, i + 1 == kinds.size());
  }
  std::printf("}\n");
  return 0;
}
