#pragma once

#include "matchmaker/latency.h"

#include "Async/Future.h"
#include "CoreMinimal.h"

/** Unreal's sockets, and threads that wait for them, for measuring. */
class FMatchmakerUdp final : public matchmaker::Udp
{
public:
	bool run(std::function<void()> Job) override;
	std::vector<std::unique_ptr<matchmaker::Datagrams>> open(const std::string& Host, const std::string& Port) override;

	/** Waits for the threads when what they measure is not wanted any more: for three seconds at most. */
	void Wait();

private:
	/** They belong to the thread of the game. */
	TArray<TFuture<void>> Jobs;
};
