#include "Unreal.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "MatchmakerTransport.h"
#include "MatchmakerUdp.h"

std::string stubUtf8(const TCHAR* text) {
  std::string to;
  for (; *text != 0; text++) {
    unsigned code = *text;
    if (code >= 0xD800 && code < 0xDC00 && text[1] != 0) code = 0x10000 + ((code & 0x3FF) << 10) + (*++text & 0x3FFu);
    const auto put = [&to](unsigned byte) { to += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else {
      int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      put((0xF00u >> more & 0xFFu) | code >> (6 * more));
      while (more-- > 0) put(0x80 | (code >> (6 * more) & 0x3F));
    }
  }
  return to;
}

std::u16string stubWide(const char* text) {
  std::u16string to;
  while (*text != 0) {
    const auto first = static_cast<unsigned char>(*text++);
    const int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    unsigned code = more == 0 ? first : first & (0x3Fu >> more);
    for (int i = 0; i < more && *text != 0; i++) code = code << 6 | (static_cast<unsigned char>(*text++) & 0x3Fu);
    if (code >= 0x10000) to += static_cast<TCHAR>(0xD800 + ((code - 0x10000) >> 10));
    to += static_cast<TCHAR>(code >= 0x10000 ? 0xDC00 + (code & 0x3FF) : code);
  }
  return to;
}

FTSTicker& FTSTicker::GetCoreTicker() {
  static FTSTicker ticker;
  return ticker;
}
IFileManager& IFileManager::Get() {
  static IFileManager manager;
  return manager;
}
FHttpModule& FHttpModule::Get() {
  static FHttpModule module;
  return module;
}
TMulticast<> FCoreDelegates::ApplicationWillEnterBackgroundDelegate;
TMulticast<> FCoreDelegates::ApplicationHasEnteredForegroundDelegate;

namespace {

// Requests end before the process does: OpenSSL frees what it has for a thread when the thread ends.
struct Requests {
  std::vector<std::pair<std::thread, std::weak_ptr<IHttpRequest>>> all;
  ~Requests() {
    for (auto& [thread, request] : all) {
      if (const auto one = request.lock()) one->CancelRequest();
      thread.join();
    }
  }
} requests;

}  // namespace

bool IHttpRequest::ProcessRequest() {
  static const auto first = matchmaker::curlTransport();  // libcurl begins on one thread
  std::thread thread([self = shared_from_this()] {
    const auto transport = matchmaker::curlTransport();
    self->send(*transport);
    for (int i = 0; i < 10 && !self->over_; i++) {
      self->redirect();
      self->send(*transport);
    }
    self->location_.clear();
    if (!self->over_) self->onEnd("too many redirects");
  });
  requests.all.emplace_back(std::move(thread), weak_from_this()); // on the game's thread
  return true;
}

/** Sends it once; it is over, unless it is redirected. */
void IHttpRequest::send(matchmaker::Transport& transport) {
  location_.clear();
  ended_ = false;
  const auto id = transport.start(asked_, *this);
  while (!ended_ && !cancelled_) transport.pump(5);
  if (ended_) return;
  transport.cancel(id);
  location_.clear();
  onEnd("cancelled");
}

void IHttpRequest::redirect() {
  const auto host = [](const std::string& url) { return url.substr(0, url.find('/', url.find("://") + 3)); };
  if (host(location_) != host(asked_.url)) {
    auto& all = asked_.headers;
    all.erase(std::remove_if(all.begin(), all.end(), [](const auto& h) { return h.first == "Authorization"; }), all.end());
  }
  asked_.url = location_;
  effective_ = FString(stubWide(location_.c_str()).c_str());
}

void IHttpRequest::onHead(int status, matchmaker::Pairs headers) {
  for (const auto& [name, value] : headers) {
    if (name == "location" && status / 100 == 3) location_ = value;
  }
  if (!location_.empty()) return;
  code_ = status;
  onStatus_.Execute(shared_from_this(), status);
  for (const auto& [name, value] : headers) {
    onHeader_.Execute(shared_from_this(), stubWide(name.c_str()).c_str(), stubWide((" " + value).c_str()).c_str());
  }
}

void IHttpRequest::onData(std::string_view bytes) {
  if (!location_.empty()) return;
  std::string copy(bytes);
  stream_->Serialize(copy.data(), static_cast<int64>(copy.size()));
  cancelled_ = cancelled_ || stream_->GetError();
}

void IHttpRequest::onEnd(const std::string& failure) {
  ended_ = true;
  if (!location_.empty() && failure.empty()) return;
  over_ = true;
  const auto response = std::make_shared<IHttpResponse>();
  response->code = code_;
  onComplete_.Execute(shared_from_this(), response, failure.empty());
}

/** The driver's transport and sockets. */
std::unique_ptr<matchmaker::Transport> unrealTransport() { return std::make_unique<FMatchmakerTransport>(); }
std::shared_ptr<matchmaker::Udp> unrealUdp() { return std::make_shared<FMatchmakerUdp>(); }

FSocket::~FSocket() {
  ::close(of_);
  open--;
}
bool FSocket::Connect(const FInternetAddr& to) {
  const auto* address = reinterpret_cast<const sockaddr*>(to.address.data());
  return ::connect(of_, address, static_cast<socklen_t>(to.address.size())) == 0;
}
bool FSocket::Send(const uint8* bytes, int32 count, int32& sent) {
  sent = static_cast<int32>(::send(of_, bytes, static_cast<size_t>(count), 0));
  return sent >= 0;
}
bool FSocket::Wait(ESocketWaitConditions, FTimespan of) {
  pollfd p{of_, POLLIN, 0};
  return ::poll(&p, 1, static_cast<int>(of.milliseconds) + 1) > 0;
}
bool FSocket::Recv(uint8* bytes, int32 size, int32& read) {
  read = static_cast<int32>(::recv(of_, bytes, static_cast<size_t>(size), 0));
  return read >= 0;
}
ISocketSubsystem* ISocketSubsystem::Get(const FString&) {
  static ISocketSubsystem all;
  return &all;
}
FAddressInfoResult ISocketSubsystem::GetAddressInfo(const TCHAR* host, const TCHAR* service, EAddressInfoFlags, const FName&,
                                                    ESocketType::Type) {
  FAddressInfoResult to;
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(stubUtf8(host).c_str(), stubUtf8(service).c_str(), &hints, &found) != 0) return to;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    FInternetAddr one;
    one.address.assign(reinterpret_cast<const char*>(a->ai_addr), a->ai_addrlen);
    one.family = a->ai_family == AF_INET ? FNetworkProtocolTypes::IPv4 : FNetworkProtocolTypes::IPv6;
    to.Results.push_back({MakeShared<FInternetAddr>(one)});
  }
  freeaddrinfo(found);
  return to;
}
FSocket* ISocketSubsystem::CreateSocket(const FName&, const FString&, const FName& family) {
  const int of = ::socket(family == FNetworkProtocolTypes::IPv4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
  return of < 0 ? nullptr : new FSocket(of);
}
