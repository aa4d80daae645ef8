// What the plugin uses of Unreal, for tests without it. The HTTP module is real below: libcurl sends, on a thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "matchmaker/transport.h"

using int32 = std::int32_t;
using int64 = std::int64_t;
using uint8 = std::uint8_t;
using TCHAR = char16_t;

// As in Unreal: names that the client must not use where these are seen.
#define check(expr) static_cast<void>(expr)
#define verify(expr) static_cast<void>(expr)
#define ensure(expr) (!!(expr))

#define TEXT(x) u##x
#define MATCHMAKING_API
#define GENERATED_BODY()
#define UCLASS(...)
#define USTRUCT(...)
#define UENUM(...)
#define UFUNCTION(...)
#define UPROPERTY(...)
#define IMPLEMENT_MODULE(...) static_assert(true, "");
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(Name, Type, Param) using Name = TMulticast<Type>

std::string stubUtf8(const TCHAR* text);
std::u16string stubWide(const char* text);
#define TCHAR_TO_UTF8(x) stubUtf8(x).c_str()
#define UTF8_TO_TCHAR(x) stubWide(x).c_str()

class FString {
 public:
  FString() = default;
  FString(const TCHAR* text) : text_(text) {}
  const TCHAR* operator*() const { return text_.c_str(); }
  bool IsEmpty() const { return text_.empty(); }
  FString ToLower() const {
    FString to = *this;
    for (TCHAR& c : to.text_) c = c >= u'A' && c <= u'Z' ? static_cast<TCHAR>(c | 32) : c;
    return to;
  }
  FString TrimStartAndEnd() const {
    const auto begin = text_.find_first_not_of(u' ');
    if (begin == std::u16string::npos) return {};
    return FString(text_.substr(begin, text_.find_last_not_of(u' ') + 1 - begin).c_str());
  }
  bool operator<(const FString& other) const { return text_ < other.text_; }
  bool operator==(const FString& other) const { return text_ == other.text_; }

 private:
  std::u16string text_;
};

template <class T> class TArray : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  void Add(const T& one) { this->push_back(one); }
  void Add(T&& one) { this->push_back(std::move(one)); }
  template <class F> void RemoveAll(F of) { this->erase(std::remove_if(this->begin(), this->end(), of), this->end()); }
};
template <class K, class V> struct TPair {
  K Key;
  V Value;
};
template <class K, class V> class TMap : public std::vector<TPair<K, V>> {
 public:
  void Add(const K& key, const V& value) { this->push_back({key, value}); }
};

enum class ESPMode { NotThreadSafe, ThreadSafe };
template <class T, ESPMode = ESPMode::ThreadSafe> class TSharedPtr {
 public:
  TSharedPtr() = default;
  template <class U> TSharedPtr(std::shared_ptr<U> of) : of_(std::move(of)) {}
  template <class U, ESPMode M> TSharedPtr(const TSharedPtr<U, M>& other) : of_(other.std()) {}
  bool IsValid() const { return of_ != nullptr; }
  T* operator->() const { return of_.get(); }
  T& operator*() const { return *of_; }
  const std::shared_ptr<T>& std() const { return of_; }

 private:
  std::shared_ptr<T> of_;
};
template <class T, ESPMode M = ESPMode::ThreadSafe> using TSharedRef = TSharedPtr<T, M>;
template <class T, ESPMode M = ESPMode::ThreadSafe, class... A> TSharedRef<T, M> MakeShared(A&&... a) {
  return std::make_shared<T>(std::forward<A>(a)...);
}
template <class T, ESPMode M = ESPMode::ThreadSafe> class TWeakPtr {
 public:
  template <class U> TWeakPtr(const TSharedPtr<U, M>& of) : of_(of.std()) {}
  TSharedPtr<T, M> Pin() const { return of_.lock(); }

 private:
  std::weak_ptr<T> of_;
};
template <class T> class TUniquePtr {
 public:
  TUniquePtr() = default;
  template <class U> TUniquePtr(std::unique_ptr<U> of) : of_(std::move(of)) {}
  T* Get() const { return of_.get(); }
  T* operator->() const { return of_.get(); }
  explicit operator bool() const { return of_ != nullptr; }
  void Reset() { of_.reset(); }

 private:
  std::unique_ptr<T> of_;
};
template <class T, class... A> std::unique_ptr<T> MakeUnique(A&&... a) {
  return std::make_unique<T>(std::forward<A>(a)...);
}

class FCriticalSection : public std::mutex {};
class FScopeLock {
 public:
  explicit FScopeLock(FCriticalSection* of) : of_(*of) {}

 private:
  std::lock_guard<std::mutex> of_;
};

template <class... A> class TMulticast {
 public:
  void Add(std::function<void(A...)> f) { all_.push_back(std::move(f)); }
  template <class T> void AddUObject(T* of, void (T::*f)(A...)) {
    of_ = of;
    Add([of, f](A... a) { (of->*f)(a...); });
  }
  void RemoveAll(void* of) {
    if (of == of_) all_.clear();
  }
  void Broadcast(A... a) {
    for (const auto& f : all_) f(a...);
  }

 private:
  std::vector<std::function<void(A...)>> all_;
  void* of_ = nullptr;
};

template <class F> class TDelegate;
template <class R, class... A> class TDelegate<R(A...)> {
 public:
  void BindLambda(std::function<R(A...)> f) { f_ = std::move(f); }
  template <class T> static TDelegate CreateUObject(T* of, R (T::*f)(A...)) {
    TDelegate to;
    to.BindLambda([of, f](A... a) { return (of->*f)(a...); });
    return to;
  }
  R Execute(A... a) const { return f_(a...); }

 private:
  std::function<R(A...)> f_;
};
using FTickerDelegate = TDelegate<bool(float)>;

class FTSTicker {
 public:
  using FDelegateHandle = int;
  static FTSTicker& GetCoreTicker();
  FDelegateHandle AddTicker(const FTickerDelegate& f) {
    all_[++last_] = f;
    return last_;
  }
  void RemoveTicker(FDelegateHandle handle) { all_.erase(handle); }
  void Tick() {
    const auto all = all_;
    for (const auto& f : all) f.second.Execute(0.0F);
  }

 private:
  std::map<int, FTickerDelegate> all_;
  int last_ = 0;
};

struct FCoreDelegates {
  static TMulticast<> ApplicationWillEnterBackgroundDelegate;
  static TMulticast<> ApplicationHasEnteredForegroundDelegate;
};

struct FPaths {
  static FString ProjectSavedDir() { return TEXT("/tmp"); }
  static FString Combine(const FString& a, const FString& b) {
    return FString((std::u16string(*a) + u"/" + *b).c_str());
  }
};
struct FFileHelper {
  static bool LoadFileToString(FString& to, const TCHAR* path) {
    std::ifstream file(stubUtf8(path));
    std::stringstream text;
    text << file.rdbuf();
    to = FString(stubWide(text.str().c_str()).c_str());
    return !file.fail();
  }
  static bool SaveStringToFile(const FString& text, const TCHAR* path) {
    std::ofstream file(stubUtf8(path));
    file << stubUtf8(*text);
    return !file.fail();
  }
};
struct IFileManager {
  static IFileManager& Get();
  bool Delete(const TCHAR* path) { return std::remove(stubUtf8(path).c_str()) == 0; }
  bool Move(const TCHAR* to, const TCHAR* from) {
    return std::rename(stubUtf8(from).c_str(), stubUtf8(to).c_str()) == 0;
  }
};

class UObject {
 public:
  virtual ~UObject() = default;
  /** Objects are there until the test ends, or marks them as collected. */
  bool collected = false;
};
template <class T> using TObjectPtr = T*;
template <class T> class TWeakObjectPtr {
 public:
  explicit TWeakObjectPtr(T* of) : of_(of) {}
  bool IsValid() const { return !of_->collected; }
  T* operator->() const { return of_; }

 private:
  T* of_;
};
template <class T> T* NewObject() { return new T; }

class FSubsystemCollectionBase {};
class UGameInstanceSubsystem : public UObject {
 public:
  virtual void Initialize(FSubsystemCollectionBase&) {}
  virtual void Deinitialize() {}
};
class UGameInstance : public UObject {
 public:
  template <class T> T* GetSubsystem() const { return static_cast<T*>(subsystem); }
  UGameInstanceSubsystem* subsystem = nullptr;
};
struct UGameplayStatics {
  static UGameInstance* GetGameInstance(const UObject* context) {
    return const_cast<UGameInstance*>(static_cast<const UGameInstance*>(context));
  }
};
class UBlueprintAsyncActionBase : public UObject {
 public:
  virtual void Activate() {}
  void RegisterWithGameInstance(const UObject*) {}
  void SetReadyToDestroy() { collected = true; }
};

class FArchive {
 public:
  virtual ~FArchive() = default;
  virtual void Serialize(void*, int64) {}
  void SetError() { error = true; }
  bool GetError() const { return error; }

 private:
  bool error = false;
};

// Sockets, which are real below, too.
using FName = std::string;
inline const FName NAME_None, NAME_DGram = "DGram";
struct FNetworkProtocolTypes {
  inline static const FName IPv4 = "IPv4", IPv6 = "IPv6";
};
enum class EAddressInfoFlags { Default };
enum class ESocketWaitConditions { WaitForRead };
enum class EAsyncExecution { Thread };
struct ESocketType {
  enum Type { SOCKTYPE_Datagram };
};
struct FTimespan {
  double milliseconds;
  static FTimespan FromMilliseconds(double of) { return {of}; }
};
struct FInternetAddr {
  std::string address;  // a sockaddr
  FName family;
  FName GetProtocolType() const { return family; }
};
struct FAddressInfoResultData {
  TSharedRef<FInternetAddr> Address;
};
struct FAddressInfoResult {
  TArray<FAddressInfoResultData> Results;
};
class FSocket {
 public:
  explicit FSocket(int of) : of_(of) { open++; }
  ~FSocket();
  bool Connect(const FInternetAddr& to);
  bool Send(const uint8* bytes, int32 count, int32& sent);
  bool Wait(ESocketWaitConditions, FTimespan of);
  bool Recv(uint8* bytes, int32 size, int32& read);
  inline static std::atomic<int> open{0};

 private:
  int of_;
};
#define PLATFORM_SOCKETSUBSYSTEM TEXT("STUB")
class ISocketSubsystem {
 public:
  static ISocketSubsystem* Get(const FString& name);
  FAddressInfoResult GetAddressInfo(const TCHAR* host, const TCHAR* service, EAddressInfoFlags, const FName&,
                                    ESocketType::Type);
  FSocket* CreateSocket(const FName& type, const FString& description, const FName& family);
  void DestroySocket(FSocket* of) { delete of; }
};
template <class T> class TFuture : public std::future<T> {
 public:
  TFuture(std::future<T> of) : std::future<T>(std::move(of)) {}
  bool IsReady() const { return WaitFor({0}); }
  bool WaitFor(FTimespan of) const {
    return this->wait_for(std::chrono::duration<double, std::milli>(of.milliseconds)) == std::future_status::ready;
  }
};
template <class F> TFuture<void> Async(EAsyncExecution, F job) {
  std::packaged_task<void()> task(std::move(job));
  TFuture<void> to(task.get_future());
  std::thread(std::move(task)).detach();
  return to;
}

class IHttpRequest;
class IHttpResponse {
 public:
  int32 code = 0;
  int32 GetResponseCode() const { return code; }
};
using FHttpRequestPtr = TSharedPtr<IHttpRequest, ESPMode::ThreadSafe>;
using FHttpResponsePtr = TSharedPtr<IHttpResponse, ESPMode::ThreadSafe>;
enum class EHttpRequestDelegateThreadPolicy { CompleteOnGameThread, CompleteOnHttpThread };

/**
 * One request: a thread of its own, on which all delegates are called. It follows redirects, of which it says no status and
 * no header, and takes no token to another host, as Unreal's does by libcurl.
 */
class IHttpRequest final : public std::enable_shared_from_this<IHttpRequest>, private matchmaker::HttpListener {
 public:
  void SetURL(const FString& url) {
    url_ = effective_ = url;
    asked_.url = stubUtf8(*url);
  }
  const FString& GetURL() const { return url_; }
  const FString& GetEffectiveURL() const { return effective_; }
  void SetVerb(const FString& verb) { asked_.method = stubUtf8(*verb); }
  void SetHeader(const FString& name, const FString& value) {
    asked_.headers.emplace_back(stubUtf8(*name), stubUtf8(*value));
  }
  void SetContentAsString(const FString& text) { asked_.body = stubUtf8(*text); }
  void SetTimeout(float) {}
  void SetDelegateThreadPolicy(EHttpRequestDelegateThreadPolicy) {}
  bool SetResponseBodyReceiveStream(TSharedRef<FArchive> stream) {
    stream_ = stream;
    return true;
  }
  TDelegate<void(FHttpRequestPtr, int32)>& OnStatusCodeReceived() { return onStatus_; }
  TDelegate<void(FHttpRequestPtr, const FString&, const FString&)>& OnHeaderReceived() { return onHeader_; }
  TDelegate<void(FHttpRequestPtr, FHttpResponsePtr, bool)>& OnProcessRequestComplete() { return onComplete_; }
  bool ProcessRequest();
  void CancelRequest() { cancelled_ = true; }

 private:
  void onHead(int status, matchmaker::Pairs headers) override;
  void onData(std::string_view bytes) override;
  void onEnd(const std::string& failure) override;
  void send(matchmaker::Transport& transport);
  void redirect();

  matchmaker::HttpRequest asked_;
  FString url_, effective_;
  std::string location_;
  bool ended_ = false;
  TSharedPtr<FArchive> stream_;
  TDelegate<void(FHttpRequestPtr, int32)> onStatus_;
  TDelegate<void(FHttpRequestPtr, const FString&, const FString&)> onHeader_;
  TDelegate<void(FHttpRequestPtr, FHttpResponsePtr, bool)> onComplete_;
  std::atomic<bool> cancelled_{false};
  bool over_ = false;
  int32 code_ = 0;
};

class FHttpModule {
 public:
  static FHttpModule& Get();
  TSharedRef<IHttpRequest, ESPMode::ThreadSafe> CreateRequest() { return std::make_shared<IHttpRequest>(); }
};
