#pragma once

#include <map>

#include "matchmaker/transport.h"

#include "CoreMinimal.h"
#include "Interfaces/IHttpRequest.h"

/** Requests by Unreal's HTTP module. What its thread receives is told within pump. */
class FMatchmakerTransport final : public matchmaker::Transport
{
public:
	~FMatchmakerTransport() override;
	std::uint64_t start(const matchmaker::HttpRequest& Request, matchmaker::HttpListener& Listener) override;
	void cancel(std::uint64_t Id) override;
	/** It does not wait: what comes is received between two frames. */
	void pump(int Wait) override;

private:
	struct FAnswer;
	struct FCall
	{
		FHttpRequestPtr Request;
		TSharedPtr<FAnswer, ESPMode::ThreadSafe> Answer;
		matchmaker::HttpListener* Listener = nullptr;
		int Told = 0; // the status
	};

	void Tell(std::uint64_t Id, FCall Call);

	std::map<std::uint64_t, FCall> Calls;
	std::uint64_t Last = 0;
};
