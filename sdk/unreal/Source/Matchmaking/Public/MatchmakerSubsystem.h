#pragma once

#include "matchmaker/matchmaker.h"

#include "Containers/Ticker.h"
#include "CoreMinimal.h"
#include "MatchmakerTypes.h"
#include "Subsystems/GameInstanceSubsystem.h"

#include "MatchmakerSubsystem.generated.h"

UENUM(BlueprintType)
enum class EMatchmakerWhy : uint8
{
	First,
	Expiring,
	/** The service did not take the last one, so do not give it again. */
	Refused,
};

DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FMatchmakerTokenNeeded, EMatchmakerWhy, Why);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FMatchmakerRegionsMeasured, const TArray<FMatchmakerLatency>&, Latencies);

/** The service for one player. It pumps each frame, and suspends while the app is in the background. */
UCLASS()
class MATCHMAKING_API UMatchmakerSubsystem : public UGameInstanceSubsystem
{
	GENERATED_BODY()

public:
	virtual void Initialize(FSubsystemCollectionBase& Collection) override;
	virtual void Deinitialize() override;

	/** Begins for a player. Bind OnTokenNeeded before. What is wrong with the address or the project is returned. */
	UFUNCTION(BlueprintCallable, Category = "Matchmaker")
	FString Open(const FString& Url, const FString& Project);

	/** The player's token, or, if it is empty, why there is none. */
	UFUNCTION(BlueprintCallable, Category = "Matchmaker")
	void SetToken(const FString& Token, const FString& Error);

	/** A token is needed: call SetToken, now or within 30 seconds. */
	UPROPERTY(BlueprintAssignable, Category = "Matchmaker")
	FMatchmakerTokenNeeded OnTokenNeeded;

	/** Measures how far the regions are, where that is not known. */
	UFUNCTION(BlueprintCallable, Category = "Matchmaker")
	void MeasureRegions();

	/** The latencies, without the regions that did not answer; empty if the service did not. */
	UPROPERTY(BlueprintAssignable, Category = "Matchmaker")
	FMatchmakerRegionsMeasured OnRegionsMeasured;

	/** The match is over: there is nothing to go on with. */
	UFUNCTION(BlueprintCallable, Category = "Matchmaker")
	void Forget();

	/** As above, with options of C++; what they do not name is Unreal's. */
	FString OpenWith(matchmaker::Options Options);

	/** The client for C++, with parties and all requests; null before Open. */
	matchmaker::Matchmaker* GetClient() const { return Client.Get(); }

private:
	bool Tick(float DeltaSeconds);
	void Suspend();
	void Resume();

	// The client is destroyed before what it uses.
	TUniquePtr<matchmaker::Transport> Transport;
	TUniquePtr<matchmaker::Storage> Storage;
	std::shared_ptr<class FMatchmakerUdp> Udp;
	TUniquePtr<matchmaker::Matchmaker> Client;
	std::function<void(matchmaker::Token)> Reply;
	FTSTicker::FDelegateHandle Ticker;
};
