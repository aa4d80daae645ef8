#pragma once

#include "CoreMinimal.h"

#include "MatchmakerTypes.generated.h"

/** What is searched for. */
USTRUCT(BlueprintType)
struct MATCHMAKING_API FMatchmakerSearch
{
	GENERATED_BODY()

	/** The queues to wait in. The ticket is matched once. */
	UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Matchmaker")
	TArray<FString> Queues;

	/** Numbers that pools and rules query. */
	UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Matchmaker")
	TMap<FString, double> Attributes;

	/** The player's latencies to regions in milliseconds. */
	UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Matchmaker")
	TMap<FString, double> Latencies;

	/** Measures regions where that is not known, and proves the latencies to the service. */
	UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Matchmaker")
	bool bMeasure = false;

	/** After so many seconds the search fails. */
	UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Matchmaker")
	double TimeoutSeconds = 3600;
};

/** How far a region is. */
USTRUCT(BlueprintType)
struct MATCHMAKING_API FMatchmakerLatency
{
	GENERATED_BODY()

	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	FString Region;
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	double Milliseconds = 0;
};

UENUM(BlueprintType)
enum class EMatchmakerState : uint8
{
	Starting,
	Searching,
	Offered,
	Preparing,
	Matched,
	Cancelled,
	Failed,
};

/** How a search is. What does not belong to its state is empty. */
USTRUCT(BlueprintType)
struct MATCHMAKING_API FMatchmakerUpdate
{
	GENERATED_BODY()

	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	EMatchmakerState State = EMatchmakerState::Starting;

	/** Searching: for how many more seconds; -1 if that is not known. */
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	double EstimateLow = -1;
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	double EstimateHigh = -1;

	/** Offered: how many seconds are left to answer, how many players are asked, and how many accepted. */
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	double RemainingSeconds = 0;
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	int32 Players = 0;
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	int32 Accepted = 0;

	/** Matched: how to connect to the game server, and the pass that it checks. */
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	FString Connection;
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	FString Seat;

	/** Failed: the error's code, such as offline, and what the player may be told. */
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	FString Code;
	UPROPERTY(BlueprintReadOnly, Category = "Matchmaker")
	FString PlayerMessage;
};
