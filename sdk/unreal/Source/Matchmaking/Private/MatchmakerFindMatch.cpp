#include "MatchmakerFindMatch.h"

#include <chrono>

#include "Engine/GameInstance.h"
#include "Kismet/GameplayStatics.h"
#include "MatchmakerSubsystem.h"
#include "MatchmakerText.h"

using namespace MatchmakerText;

UMatchmakerFindMatch* UMatchmakerFindMatch::FindMatch(UObject* WorldContextObject, const FMatchmakerSearch& Search,
	bool bResume)
{
	UMatchmakerFindMatch* Node = NewObject<UMatchmakerFindMatch>();
	Node->Context = WorldContextObject;
	Node->bResumes = bResume;
	for (const FString& Queue : Search.Queues) Node->Options.queues.push_back(From(Queue));
	for (const auto& Attribute : Search.Attributes) Node->Options.attributes[From(Attribute.Key)] = Attribute.Value;
	for (const auto& Latency : Search.Latencies) Node->Options.latencies[From(Latency.Key)] = Latency.Value;
	Node->bMeasures = Search.bMeasure;
	Node->Options.timeout = Search.TimeoutSeconds * 1000;
	Node->RegisterWithGameInstance(WorldContextObject);
	return Node;
}

void UMatchmakerFindMatch::Activate()
{
	UGameInstance* Game = UGameplayStatics::GetGameInstance(Context);
	UMatchmakerSubsystem* Subsystem = Game != nullptr ? Game->GetSubsystem<UMatchmakerSubsystem>() : nullptr;
	matchmaker::Matchmaker* Client = Subsystem != nullptr ? Subsystem->GetClient() : nullptr;
	if (Client == nullptr)
	{
		Fail(matchmaker::Error::of(matchmaker::Code::Invalid, "call Open of the MatchmakerSubsystem first"));
		return;
	}
	if (!bResumes)
	{
		Begin(*Client);
		return;
	}
	const TWeakObjectPtr<UMatchmakerFindMatch> Weak(this);
	Client->restore([Weak, Client](const matchmaker::Result<std::shared_ptr<matchmaker::Search>>& Left)
	{
		if (!Weak.IsValid()) return;
		if (Left.error) Weak->Fail(Left.error);
		else if (Left.value) Weak->Follow(Left.value);
		else Weak->Begin(*Client);
	});
}

void UMatchmakerFindMatch::Begin(matchmaker::Matchmaker& Client)
{
	if (!bCancelled && bMeasures)
	{
		bMeasures = false;
		bMeasuring = true;
		const TWeakObjectPtr<UMatchmakerFindMatch> Weak(this);
		Client.measure({}, [Weak, &Client](const matchmaker::Result<std::vector<matchmaker::Latency>>& Measured)
		{
			if (!Weak.IsValid() || Weak->bCancelled) return;
			Weak->bMeasuring = false;
			Weak->Options.receipts = matchmaker::receipts(Measured.value);
			Weak->Begin(Client);
		});
		return;
	}
	if (!bCancelled)
	{
		Follow(Client.search(Options));
		return;
	}
	TellCancelled();
}

void UMatchmakerFindMatch::TellCancelled()
{
	matchmaker::Update Update;
	Update.state = matchmaker::Update::State::Cancelled;
	Tell(Update);
}

void UMatchmakerFindMatch::Follow(const std::shared_ptr<matchmaker::Search>& Of)
{
	Search = Of;
	const TWeakObjectPtr<UMatchmakerFindMatch> Weak(this);
	Search->onUpdate([Weak](const matchmaker::Update& Update)
	{
		if (Weak.IsValid()) Weak->Tell(Update);
	});
	if (bCancelled) Search->cancel();
}

void UMatchmakerFindMatch::Cancel()
{
	bCancelled = true;
	if (Search) Search->cancel();
	if (!bMeasuring) return;
	bMeasuring = false;
	TellCancelled();
}

void UMatchmakerFindMatch::Accept()
{
	if (Search) Search->accept();
}

void UMatchmakerFindMatch::Decline()
{
	if (Search) Search->decline();
}

void UMatchmakerFindMatch::Fail(const matchmaker::Error& Error)
{
	matchmaker::Update Update;
	Update.state = matchmaker::Update::State::Failed;
	Update.error = Error;
	Tell(Update);
}

void UMatchmakerFindMatch::Tell(const matchmaker::Update& Update)
{
	using State = matchmaker::Update::State;
	FMatchmakerUpdate To;
	To.State = static_cast<EMatchmakerState>(Update.state);
	if (Update.estimate)
	{
		To.EstimateLow = static_cast<double>(Update.estimate->low) / 1000;
		To.EstimateHigh = static_cast<double>(Update.estimate->high) / 1000;
	}
	if (Update.state == State::Offered)
	{
		const std::chrono::duration<double> Now = std::chrono::system_clock::now().time_since_epoch();
		To.RemainingSeconds = Update.deadline / 1000 - Now.count();
		To.Players = static_cast<int32>(Update.players);
		To.Accepted = static_cast<int32>(Update.accepted);
	}
	To.Connection = MatchmakerText::To(Update.match.connection);
	To.Seat = MatchmakerText::To(Update.match.seat);
	if (Update.error)
	{
		To.Code = MatchmakerText::To(matchmaker::name(Update.error.code));
		To.PlayerMessage = MatchmakerText::To(Update.error.playerMessage());
	}
	if (!Update.ended())
	{
		Progress.Broadcast(To);
		return;
	}
	if (Update.state == State::Matched) Matched.Broadcast(To);
	else if (Update.state == State::Cancelled) Cancelled.Broadcast(To);
	else Failed.Broadcast(To);
	SetReadyToDestroy();
}
