#include "MatchmakerTransport.h"

#include <algorithm>
#include <vector>

#include "HttpModule.h"
#include "Interfaces/IHttpResponse.h"
#include "MatchmakerText.h"
#include "Misc/ScopeLock.h"
#include "Serialization/Archive.h"

using namespace MatchmakerText;

/** What came. The threads of the HTTP module write it. */
struct FMatchmakerTransport::FAnswer
{
	FCriticalSection Lock;
	int Status = 0;
	matchmaker::Pairs Headers;
	std::string Data;
	bool bOver = false;
	std::string Failure;
	/** What of Headers and Data waits for the game's thread; more is left out, and ends the request. */
	size_t HeaderBytes = 0;
	static constexpr size_t MaxHeader = 256 << 10;
	static constexpr size_t MaxData = (8 << 20) + 1; // too large for the client

	/** The module followed a redirect to another host: what comes is not the service's. */
	void Check(const FHttpRequestPtr& Request)
	{
		if (!Request.IsValid() || Request->GetEffectiveURL().IsEmpty()) return;
		if (Host(Request->GetEffectiveURL()) != Host(Request->GetURL())) Status = 307;
	}

	/** The part of an address before its path. */
	static std::string Host(const FString& Url)
	{
		const std::string Text = From(Url.ToLower());
		return Text.substr(0, Text.find_first_of("/?#", Text.find("://") + 3));
	}
};

namespace
{
	/** Gets a body as it comes. */
	template <class Answer> class TMatchmakerReceiver final : public FArchive
	{
	public:
		TMatchmakerReceiver(const TSharedPtr<Answer, ESPMode::ThreadSafe>& InOf, const FHttpRequestPtr& InRequest)
			: Of(InOf), Request(InRequest)
		{
		}

		virtual void Serialize(void* Bytes, int64 Count) override
		{
			FScopeLock Locked(&Of->Lock);
			Of->Check(Request.Pin());
			const size_t Room = Answer::MaxData - Of->Data.size();
			Of->Data.append(static_cast<const char*>(Bytes), std::min(Room, static_cast<size_t>(Count)));
			if (static_cast<size_t>(Count) > Room) SetError(); // which the module takes for a broken connection
		}

	private:
		TSharedPtr<Answer, ESPMode::ThreadSafe> Of;
		TWeakPtr<IHttpRequest, ESPMode::ThreadSafe> Request;
	};
}

FMatchmakerTransport::~FMatchmakerTransport()
{
	while (!Calls.empty()) cancel(Calls.begin()->first);
}

std::uint64_t FMatchmakerTransport::start(const matchmaker::HttpRequest& Asked, matchmaker::HttpListener& Listener)
{
	const TSharedPtr<FAnswer, ESPMode::ThreadSafe> Answer = MakeShared<FAnswer, ESPMode::ThreadSafe>();
	const FHttpRequestPtr Request = FHttpModule::Get().CreateRequest();
	Calls[++Last] = {Request, Answer, &Listener, 0};
	Request->SetURL(To(Asked.url));
	Request->SetVerb(To(Asked.method));
	for (const auto& Header : Asked.headers) Request->SetHeader(To(Header.first), To(Header.second));
	if (!Asked.body.empty()) Request->SetContentAsString(To(Asked.body));
	Request->SetTimeout(0); // the client cancels
	Request->SetDelegateThreadPolicy(EHttpRequestDelegateThreadPolicy::CompleteOnHttpThread);
	Request->SetResponseBodyReceiveStream(MakeShared<TMatchmakerReceiver<FAnswer>>(Answer, Request));
	Request->OnStatusCodeReceived().BindLambda([Answer](FHttpRequestPtr, int32 Status)
	{
		FScopeLock Locked(&Answer->Lock);
		Answer->Status = Status;
		Answer->Headers.clear();
		Answer->HeaderBytes = 0;
	});
	Request->OnHeaderReceived().BindLambda([Answer](FHttpRequestPtr, const FString& Name, const FString& Value)
	{
		FScopeLock Locked(&Answer->Lock);
		std::string Key = From(Name.ToLower()), Text = From(Value.TrimStartAndEnd());
		Answer->HeaderBytes += Key.size() + Text.size() + sizeof(Answer->Headers[0]);
		if (Answer->HeaderBytes > FAnswer::MaxHeader) Answer->Failure = "the header is too large";
		else Answer->Headers.emplace_back(std::move(Key), std::move(Text));
	});
	Request->OnProcessRequestComplete().BindLambda([Answer](FHttpRequestPtr Of, FHttpResponsePtr Response, bool bSucceeded)
	{
		FScopeLock Locked(&Answer->Lock);
		if (Response.IsValid() && Response->GetResponseCode() > 0) Answer->Status = Response->GetResponseCode();
		Answer->Check(Of);
		Answer->bOver = true;
		if (!bSucceeded && Answer->Failure.empty()) Answer->Failure = "the answer is not whole";
	});
	if (!Request->ProcessRequest())
	{
		FScopeLock Locked(&Answer->Lock);
		Answer->bOver = true;
		Answer->Failure = "it cannot be sent";
	}
	return Last;
}

void FMatchmakerTransport::cancel(std::uint64_t Id)
{
	const auto Found = Calls.find(Id);
	if (Found == Calls.end()) return;
	const FHttpRequestPtr Request = Found->second.Request;
	Calls.erase(Found);
	Request->CancelRequest();
}

void FMatchmakerTransport::pump(int)
{
	std::vector<std::uint64_t> Ids; // listeners start and cancel others
	for (const auto& Call : Calls) Ids.push_back(Call.first);
	for (const std::uint64_t Id : Ids)
	{
		const auto Found = Calls.find(Id);
		if (Found != Calls.end()) Tell(Id, Found->second);
	}
}

void FMatchmakerTransport::Tell(std::uint64_t Id, FCall Call)
{
	int Status = 0;
	matchmaker::Pairs Headers;
	std::string Data, Failure;
	bool bOver = false, bHead = false;
	{
		FScopeLock Locked(&Call.Answer->Lock);
		Status = Call.Answer->Status;
		Data.swap(Call.Answer->Data);
		bOver = Call.Answer->bOver;
		Failure = Call.Answer->Failure;
		// The header is whole when the body begins, or the request ends.
		bHead = Call.Told == 0 && Status > 0 && (!Data.empty() || bOver);
		if (bHead) Headers.swap(Call.Answer->Headers);
	}
	if (bHead)
	{
		Calls[Id].Told = Call.Told = Status;
		Call.Listener->onHead(Status, Headers);
	}
	if (!Data.empty() && Calls.count(Id) > 0) Call.Listener->onData(Data);
	if (Failure.empty() && Call.Told != 0 && Call.Told != Status) Failure = "the answer is another host's";
	if ((!bOver && Failure.empty()) || Calls.erase(Id) == 0) return;
	if (!bOver) Call.Request->CancelRequest();
	Call.Listener->onEnd(Failure);
}
