#pragma once

#include "matchmaker/matchmaker.h"

#include "CoreMinimal.h"
#include "Kismet/BlueprintAsyncActionBase.h"
#include "MatchmakerTypes.h"

#include "MatchmakerFindMatch.generated.h"

DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FMatchmakerPin, const FMatchmakerUpdate&, Update);

/** Searches a match. */
UCLASS()
class MATCHMAKING_API UMatchmakerFindMatch : public UBlueprintAsyncActionBase
{
	GENERATED_BODY()

public:
	UPROPERTY(BlueprintAssignable)
	FMatchmakerPin Matched;
	UPROPERTY(BlueprintAssignable)
	FMatchmakerPin Failed;
	UPROPERTY(BlueprintAssignable)
	FMatchmakerPin Cancelled;
	/** Before the end, each time that something changes. */
	UPROPERTY(BlueprintAssignable)
	FMatchmakerPin Progress;

	/** With Resume, goes on with the search, or the match, that a crash left, if there is one. */
	UFUNCTION(BlueprintCallable, Category = "Matchmaker",
		meta = (BlueprintInternalUseOnly = "true", WorldContext = "WorldContextObject"))
	static UMatchmakerFindMatch* FindMatch(UObject* WorldContextObject, const FMatchmakerSearch& Search, bool bResume);

	virtual void Activate() override;

	/** Ends the search. If that is too late, Matched is called. */
	UFUNCTION(BlueprintCallable, Category = "Matchmaker")
	void Cancel();

	/** Answers the match that was offered last. */
	UFUNCTION(BlueprintCallable, Category = "Matchmaker")
	void Accept();
	UFUNCTION(BlueprintCallable, Category = "Matchmaker")
	void Decline();

private:
	void Begin(matchmaker::Matchmaker& Client);
	void Follow(const std::shared_ptr<matchmaker::Search>& Of);
	void Tell(const matchmaker::Update& Update);
	void TellCancelled();
	void Fail(const matchmaker::Error& Error);

	UPROPERTY()
	TObjectPtr<UObject> Context;
	matchmaker::SearchOptions Options;
	bool bResumes = false;
	bool bMeasures = false;
	bool bMeasuring = false;
	bool bCancelled = false;
	std::shared_ptr<matchmaker::Search> Search;
};
