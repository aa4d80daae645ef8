#include <curl/curl.h>

#include <algorithm>
#include <vector>

#include "matchmaker/transport.h"

namespace matchmaker {
namespace {

/** How big the headers of an answer may be, those of answers before it among them. */
constexpr std::size_t maxHead = 256 << 10;

/** A request. What comes is kept until the listener is told, when libcurl is not at work. */
struct Call {
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  HttpListener* listener = nullptr;
  std::uint64_t id = 0;
  std::string body;
  Pairs answer;
  bool head = false;
  std::size_t headSize = 0;
  std::string data;
  bool over = false;
  std::string failure;
};

class Curl final : public Transport {
 public:
  Curl() : multi_(curl_multi_init()) {}
  ~Curl() override {
    for (auto& call : calls_) release(*call);
    curl_multi_cleanup(multi_);
  }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;

  bool works() const { return multi_ != nullptr; }

  std::uint64_t start(const HttpRequest& r, HttpListener& listener) override {
    auto call = std::make_unique<Call>();
    call->easy = curl_easy_init();
    call->listener = &listener;
    call->id = ++last_;
    call->body = r.body;
    for (const auto& [name, value] : r.headers) {
      if (curl_slist* more = curl_slist_append(call->headers, (name + ": " + value).c_str())) call->headers = more;
    }
    if (curl_slist* more = curl_slist_append(call->headers, "Expect:")) call->headers = more;
    CURL* e = call->easy;
    bool ok = e != nullptr;
    const auto set = [&ok, e](CURLoption option, auto value) {
      ok = ok && curl_easy_setopt(e, option, value) == CURLE_OK;
    };
    set(CURLOPT_URL, r.url.c_str());
    set(CURLOPT_HTTPHEADER, call->headers);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PRIVATE, call.get());
    set(CURLOPT_WRITEFUNCTION, &onData);
    set(CURLOPT_WRITEDATA, call.get());
    set(CURLOPT_HEADERFUNCTION, &onHeader);
    set(CURLOPT_HEADERDATA, call.get());
    set(CURLOPT_CUSTOMREQUEST, r.method.c_str());
    if (!r.body.empty() || r.method == "POST" || r.method == "PUT") {
      set(CURLOPT_POSTFIELDSIZE, static_cast<long>(call->body.size()));
      set(CURLOPT_POSTFIELDS, call->body.c_str());
    }
    if (!ok || curl_multi_add_handle(multi_, e) != CURLM_OK) {
      call->over = true;
      call->failure = "libcurl cannot send it";
    }
    calls_.push_back(std::move(call));
    int running = 0;
    curl_multi_perform(multi_, &running);  // at once: the next pump may be a frame away
    return last_;
  }

  void cancel(std::uint64_t id) override {
    for (auto& call : calls_) {
      if (call->id != id) continue;
      release(*call);
      call->listener = nullptr;
    }
  }

  void pump(int wait) override {
    int running = 0;
    curl_multi_perform(multi_, &running);
    if (wait > 0 && !told()) {
      curl_multi_poll(multi_, nullptr, 0, wait, nullptr);
      curl_multi_perform(multi_, &running);
    }
    int left = 0;
    while (const CURLMsg* m = curl_multi_info_read(multi_, &left)) {
      if (m->msg != CURLMSG_DONE) continue;
      Call* call = nullptr;
      curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call);
      call->over = true;
      if (m->data.result != CURLE_OK) call->failure = curl_easy_strerror(m->data.result);
    }
    for (std::size_t i = 0; i < calls_.size(); i++) tell(*calls_[i]);  // listeners may start others
    calls_.erase(std::remove_if(calls_.begin(), calls_.end(), [](const auto& c) { return c->listener == nullptr; }),
                 calls_.end());
  }

 private:
  /** There is something to tell of a request. */
  bool told() const {
    return std::any_of(calls_.begin(), calls_.end(), [](const auto& c) { return c->head || !c->data.empty() || c->over; });
  }

  void tell(Call& call) {
    if (call.listener != nullptr && call.head) {
      long status = 0;
      curl_easy_getinfo(call.easy, CURLINFO_RESPONSE_CODE, &status);
      call.head = false;
      call.listener->onHead(static_cast<int>(status), std::move(call.answer));
    }
    std::string data;
    data.swap(call.data);
    if (call.listener != nullptr && !data.empty()) call.listener->onData(data);
    if (call.listener == nullptr || !call.over) return;
    HttpListener* listener = call.listener;
    call.listener = nullptr;
    release(call);
    listener->onEnd(call.failure);
  }

  void release(Call& call) {
    if (call.easy != nullptr) {
      curl_multi_remove_handle(multi_, call.easy);
      curl_easy_cleanup(call.easy);
    }
    curl_slist_free_all(call.headers);
    call.easy = nullptr;
    call.headers = nullptr;
  }

  static std::size_t onHeader(char* bytes, std::size_t, std::size_t n, void* of) {
    Call& call = *static_cast<Call*>(of);
    if ((call.headSize += n) > maxHead) return 0;  // libcurl ends the request
    std::string line(bytes, n);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    const std::size_t colon = line.find(':');
    if (line.rfind("HTTP/", 0) == 0) call.answer.clear();
    if (line.empty()) {
      long status = 0;
      curl_easy_getinfo(call.easy, CURLINFO_RESPONSE_CODE, &status);
      call.head = status >= 200;
    } else if (colon != std::string::npos) {
      for (std::size_t i = 0; i < colon; i++) {
        if (line[i] >= 'A' && line[i] <= 'Z') line[i] = static_cast<char>(line[i] | 32);
      }
      const std::size_t value = line.find_first_not_of(' ', colon + 1);
      call.answer.emplace_back(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
    }
    return n;
  }

  static std::size_t onData(char* bytes, std::size_t, std::size_t n, void* of) {
    static_cast<Call*>(of)->data.append(bytes, n);
    return n;
  }

  CURLM* multi_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::uint64_t last_ = 0;
};

}  // namespace

std::unique_ptr<Transport> curlTransport() {
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return nullptr;
  auto curl = std::make_unique<Curl>();
  if (!curl->works()) return nullptr;
  return curl;
}

}  // namespace matchmaker
