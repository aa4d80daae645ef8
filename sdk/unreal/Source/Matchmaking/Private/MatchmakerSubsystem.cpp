#include "MatchmakerSubsystem.h"

#include "HAL/FileManager.h"
#include "MatchmakerText.h"
#include "MatchmakerTransport.h"
#include "MatchmakerUdp.h"
#include "Misc/CoreDelegates.h"
#include "Misc/FileHelper.h"
#include "Misc/Paths.h"

using namespace MatchmakerText;

namespace
{
	/**
	 * A file of the project's saved ones. A new text is written beside the last one before that is removed, so that a
	 * crash leaves one of them.
	 */
	class FMatchmakerStorage final : public matchmaker::Storage
	{
	public:
		std::string load() override
		{
			FString Text;
			if (!FFileHelper::LoadFileToString(Text, *Path())) FFileHelper::LoadFileToString(Text, *Fresh());
			return From(Text);
		}

		void save(const std::string& Text) override
		{
			IFileManager& Files = IFileManager::Get();
			if (Text.empty())
			{
				Files.Delete(*Fresh());
				Files.Delete(*Path());
			}
			else if (FFileHelper::SaveStringToFile(To(Text), *Fresh())) Files.Move(*Path(), *Fresh());
		}

	private:
		static FString Path() { return FPaths::Combine(FPaths::ProjectSavedDir(), TEXT("Matchmaker.json")); }
		static FString Fresh() { return FPaths::Combine(FPaths::ProjectSavedDir(), TEXT("Matchmaker.json.new")); }
	};
}

void UMatchmakerSubsystem::Initialize(FSubsystemCollectionBase& Collection)
{
	UGameInstanceSubsystem::Initialize(Collection);
	Ticker = FTSTicker::GetCoreTicker().AddTicker(FTickerDelegate::CreateUObject(this, &UMatchmakerSubsystem::Tick));
	FCoreDelegates::ApplicationWillEnterBackgroundDelegate.AddUObject(this, &UMatchmakerSubsystem::Suspend);
	FCoreDelegates::ApplicationHasEnteredForegroundDelegate.AddUObject(this, &UMatchmakerSubsystem::Resume);
}

void UMatchmakerSubsystem::Deinitialize()
{
	FTSTicker::GetCoreTicker().RemoveTicker(Ticker);
	FCoreDelegates::ApplicationWillEnterBackgroundDelegate.RemoveAll(this);
	FCoreDelegates::ApplicationHasEnteredForegroundDelegate.RemoveAll(this);
	Client.Reset();
	if (Udp) Udp->Wait();
	UGameInstanceSubsystem::Deinitialize();
}

FString UMatchmakerSubsystem::Open(const FString& Url, const FString& Project)
{
	matchmaker::Options Options;
	Options.url = From(Url);
	Options.project = From(Project);
	return OpenWith(Options);
}

FString UMatchmakerSubsystem::OpenWith(matchmaker::Options Options)
{
	Client.Reset();
	if (Options.transport == nullptr)
	{
		Transport = MakeUnique<FMatchmakerTransport>();
		Options.transport = Transport.Get();
	}
	if (Options.storage == nullptr)
	{
		Storage = MakeUnique<FMatchmakerStorage>();
		Options.storage = Storage.Get();
	}
	if (!Options.udp)
	{
		if (!Udp) Udp = std::make_shared<FMatchmakerUdp>();
		Options.udp = Udp;
	}
	if (!Options.token)
	{
		const TWeakObjectPtr<UMatchmakerSubsystem> Weak(this);
		Options.token = [Weak](matchmaker::Why Why, const std::function<void(matchmaker::Token)>& InReply)
		{
			if (!Weak.IsValid()) return;
			Weak->Reply = InReply;
			Weak->OnTokenNeeded.Broadcast(static_cast<EMatchmakerWhy>(Why));
		};
	}
	Client = MakeUnique<matchmaker::Matchmaker>(Options);
	return Client->error() ? To(Client->error().message) : FString();
}

void UMatchmakerSubsystem::SetToken(const FString& Token, const FString& Error)
{
	const auto Asked = Reply;
	Reply = nullptr;
	if (Asked) Asked({From(Token), From(Error)});
}

void UMatchmakerSubsystem::MeasureRegions()
{
	if (!Client) return;
	const TWeakObjectPtr<UMatchmakerSubsystem> Weak(this);
	Client->measure({}, [Weak](const matchmaker::Result<std::vector<matchmaker::Latency>>& Measured)
	{
		if (!Weak.IsValid()) return;
		TArray<FMatchmakerLatency> Latencies;
		for (const matchmaker::Latency& One : Measured.value)
		{
			if (!One.rtt) continue;
			FMatchmakerLatency Of;
			Of.Region = To(One.region);
			Of.Milliseconds = *One.rtt;
			Latencies.Add(Of);
		}
		Weak->OnRegionsMeasured.Broadcast(Latencies);
	});
}

void UMatchmakerSubsystem::Forget()
{
	if (Client) Client->forget();
}

bool UMatchmakerSubsystem::Tick(float)
{
	if (Client) Client->pump();
	return true;
}

void UMatchmakerSubsystem::Suspend()
{
	if (Client) Client->suspend();
}

void UMatchmakerSubsystem::Resume()
{
	if (Client) Client->resume();
}
