#include "MatchmakerUdp.h"

#include <chrono>

#include "Async/Async.h"
#include "IPAddress.h"
#include "MatchmakerText.h"
#include "SocketSubsystem.h"
#include "Sockets.h"

using namespace MatchmakerText;

namespace
{
	/** Null when the engine has ended. */
	ISocketSubsystem* Sockets() { return ISocketSubsystem::Get(PLATFORM_SOCKETSUBSYSTEM); }

	class FMatchmakerDatagrams final : public matchmaker::Datagrams
	{
	public:
		explicit FMatchmakerDatagrams(FSocket* InSocket) : Socket(InSocket) {}
		virtual ~FMatchmakerDatagrams() override
		{
			if (Sockets() != nullptr) Sockets()->DestroySocket(Socket);
		}

		bool send(std::string_view Bytes) override
		{
			const int32 Count = static_cast<int32>(Bytes.size());
			int32 Sent = 0;
			return Socket->Send(reinterpret_cast<const uint8*>(Bytes.data()), Count, Sent) && Sent == Count;
		}

		bool receive(std::string& Bytes, double Wait) override
		{
			Bytes.clear();
			if (!Socket->Wait(ESocketWaitConditions::WaitForRead, FTimespan::FromMilliseconds(Wait))) return false;
			uint8 Part[2048];
			int32 Read = 0;
			if (!Socket->Recv(Part, sizeof(Part), Read)) return false;
			Bytes.assign(reinterpret_cast<const char*>(Part), static_cast<size_t>(Read));
			return true;
		}

	private:
		FSocket* Socket;
	};
}

bool FMatchmakerUdp::run(std::function<void()> Job)
{
	Jobs.RemoveAll([](const TFuture<void>& One) { return One.IsReady(); });
	Jobs.Add(Async(EAsyncExecution::Thread, [Job = std::move(Job)]() mutable
	{
		Job();
		Job = nullptr; // the engine keeps the function for longer
	}));
	return true;
}

std::vector<std::unique_ptr<matchmaker::Datagrams>> FMatchmakerUdp::open(const std::string& Host, const std::string& Port)
{
	std::vector<std::unique_ptr<matchmaker::Datagrams>> Opened;
	if (Sockets() == nullptr) return Opened;
	const FAddressInfoResult Found = Sockets()->GetAddressInfo(*To(Host), *To(Port), EAddressInfoFlags::Default,
		NAME_None, ESocketType::SOCKTYPE_Datagram);
	for (const FName& Family : {FNetworkProtocolTypes::IPv4, FNetworkProtocolTypes::IPv6})
	{
		for (const FAddressInfoResultData& One : Found.Results)
		{
			if (One.Address->GetProtocolType() != Family) continue;
			ISocketSubsystem* Subsystem = Sockets(); // a look-up may outlive it
			FSocket* Socket = Subsystem != nullptr ? Subsystem->CreateSocket(NAME_DGram, TEXT("Matchmaker"), Family) : nullptr;
			if (Socket == nullptr) break;
			auto Datagrams = std::make_unique<FMatchmakerDatagrams>(Socket);
			if (Socket->Connect(*One.Address)) Opened.push_back(std::move(Datagrams));
			break;
		}
	}
	return Opened;
}

void FMatchmakerUdp::Wait()
{
	using namespace std::chrono;
	const auto End = steady_clock::now() + seconds(3);
	for (const TFuture<void>& One : Jobs)
	{
		const auto Left = duration<double, std::milli>(End - steady_clock::now()).count();
		One.WaitFor(FTimespan::FromMilliseconds(Left > 0 ? Left : 0));
	}
}
