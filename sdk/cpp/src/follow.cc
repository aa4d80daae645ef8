#include <algorithm>

#include "connection.h"

namespace matchmaker {
namespace {

// A stream whose first byte does not come is kept back by a proxy. One that was silent for so long is broken: the
// service sends something every 15 seconds. Clients come back after about `retry`.
constexpr double first = 10'000;
constexpr double silence = 50'000;
constexpr double retry = 3000;
constexpr double maxRetry = 120'000;
/** How often a stream that cannot be opened is tried, and how many bytes an event may have. */
constexpr int maxTries = 5;
constexpr std::size_t maxEvent = 1 << 20;
// A held request is answered after 10 s at the latest. A service that does not hold requests is asked after `soon`, then
// twice as long each time up to `late`.
const char hold[] = "wait=10";
constexpr double soon = 500;
constexpr double late = 5000;

class Follow final : public Job {
 public:
  Follow(Connection& c, std::shared_ptr<Followed> of, Life life) : c_(c), of_(std::move(of)), life_(std::move(life)) {
    open();
  }

  bool step() override {
    while (*life_) {
      switch (state_) {
        case State::Opening:
          exchange_->step();
          if (exchange_->streams()) {
            state_ = State::Reading;
            failures_ = 0;
            refused_ = false;
            text_.clear();
          } else if (!exchange_->over()) {
            return false;
          } else if (!notOpened()) {
            return true;
          }
          break;
        case State::Reading:
          if (!read()) return !*life_;
          break;
        case State::Sleeping:
          if (c_.steady() < until_ && epoch_ == c_.epoch) return false;
          if (polls_) {
            poll();
          } else {
            open();
          }
          break;
        case State::Polling:
          if (!polled_) return false;
          if (ended_) return true;
          rest();
          break;
      }
    }
    return true;
  }

 private:
  enum class State { Opening, Reading, Sleeping, Polling };

  void open() {
    retry_ = retry * (0.5 + c_.random());
    exchange_ = std::make_unique<Exchange>(c_, of_->events(last_), true, first, silence);
    state_ = State::Opening;
  }

  void sleep(double ms) {
    exchange_.reset();
    state_ = State::Sleeping;
    until_ = c_.steady() + ms;
    epoch_ = c_.epoch;
  }

  /** The stream says nothing that can be used: goes on with held requests. */
  void noStream() {
    polls_ = true;
    interval_ = soon;
    exchange_.reset();
    poll();
  }

  /** Returns whether it goes on. */
  bool notOpened() {
    if (exchange_->state == Exchange::State::Interrupted) {
      open();
      return true;
    }
    if (exchange_->state == Exchange::State::Late) {
      noStream();
      return true;
    }
    const Error e = exchange_->failure();
    if (e.status == 401 && !refused_) {
      refused_ = true;
      open();  // with another token
      return true;
    }
    const bool passes = e.code == Code::Offline || (e.code == Code::Busy && e.status != 429);
    if (e.code == Code::Token || e.code == Code::Forbidden || (passes && ++failures_ > maxTries)) {
      of_->lost(e);
      return false;
    }
    if (passes) {
      sleep(std::min(e.retryAfter.value_or(c_.backoff(failures_)), maxRetry));
    } else {
      noStream();  // it is full, or an older service; or what is followed is gone
    }
    return true;
  }

  /** Reads events, and returns whether something else begins. */
  bool read() {
    exchange_->step();
    text_ += exchange_->body;
    exchange_->body.clear();
    std::size_t begin = 0;
    bool cut = false;
    while (!cut && *life_) {
      // An empty line ends an event.
      std::size_t end = text_.find('\n', begin);
      std::size_t next = std::string::npos;
      for (; end != std::string::npos && next == std::string::npos; end = text_.find('\n', end + 1)) {
        if (text_.compare(end + 1, 1, "\n") == 0) next = end + 2;
        if (text_.compare(end + 1, 2, "\r\n") == 0) next = end + 3;
        if (next != std::string::npos) break;
      }
      if (next == std::string::npos) break;
      cut = take(std::string_view(text_).substr(begin, end - begin));
      begin = next;
    }
    if (!*life_) return false;
    text_.erase(0, begin);
    if (text_.size() > maxEvent) {
      of_->lost(Error::of(Code::Unexpected, "an event of the stream is too large"));
      *life_ = false;
      return false;
    }
    if (!cut && !exchange_->over()) return false;
    const bool lateNow = exchange_->state == Exchange::State::Late;
    silent_ = lateNow && exchange_->heard ? silent_ + 1 : 0;
    if (silent_ > 1 || (lateNow && !exchange_->heard)) {
      noStream();
    } else if (exchange_->state == Exchange::State::Interrupted) {
      open();
    } else {
      sleep(retry_);
    }
    return true;
  }

  /** Takes an event, and returns whether the stream is over, though more events will come. */
  bool take(std::string_view text) {
    std::string event;
    std::string data;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string_view name = line.substr(0, colon);
      line.remove_prefix(colon + 1);
      if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
      if (name == "event") event = line;
      if (name == "data") (data += data.empty() ? "" : "\n") += line;
      if (name == "id" && printable(line)) last_ = std::string(line);
      const bool digits = line.find_first_not_of("0123456789") == std::string_view::npos;
      if (name == "retry" && digits && line.size() < 10 && std::atof(std::string(line).c_str()) > 0) {
        retry_ = std::min(std::atof(std::string(line).c_str()), maxRetry);
      }
    }
    const auto object = Json::parse(data);
    if (!object || !object->is(Json::Kind::Object)) return false;
    if (event == "reconnect") {
      if ((*object)["reason"].string() == "token") c_.tokens.expire();
      return true;
    }
    if (of_->take(event, *object)) *life_ = false;
    return false;
  }

  void poll() {
    state_ = State::Polling;
    polled_ = false;
    asked_ = c_.steady();
    const std::weak_ptr<bool> life = life_;
    of_->poll(hold, [this, life](const Error& e, bool ended) {
      const Life lives = life.lock();
      if (!lives || !*lives) return;
      polled_ = true;
      ended_ = ended || static_cast<bool>(e);
      if (e) of_->lost(e);
    });
  }

  /** Between two polls. */
  void rest() {
    const double held = c_.steady() - asked_;
    if (held >= interval_) {
      interval_ = soon;
      poll();
      return;
    }
    sleep((interval_ - held) * (0.8 + 0.4 * c_.random()));  // clients that began together do not stay so
    interval_ = std::min(2 * interval_, late);
  }

  Connection& c_;
  std::shared_ptr<Followed> of_;
  Life life_;
  State state_ = State::Opening;
  std::unique_ptr<Exchange> exchange_;
  std::optional<std::string> last_;
  std::string text_;
  double retry_ = retry;
  int failures_ = 0;
  int silent_ = 0;
  bool refused_ = false;
  bool polls_ = false;
  double until_ = 0;
  int epoch_ = 0;
  double interval_ = soon;
  double asked_ = 0;
  bool polled_ = false;
  bool ended_ = false;
};

}  // namespace

std::shared_ptr<Job> follow(Connection& c, std::shared_ptr<Followed> of, Life life) {
  return std::make_shared<Follow>(c, std::move(of), std::move(life));
}

}  // namespace matchmaker
