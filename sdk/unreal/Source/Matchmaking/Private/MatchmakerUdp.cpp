#include "MatchmakerUdp.h"

#include "Async/Async.h"
#include "IPAddress.h"
#include "MatchmakerText.h"
#include "SocketSubsystem.h"
#include "Sockets.h"

using namespace MatchmakerText;

namespace
{
	ISocketSubsystem& Sockets() { return *ISocketSubsystem::Get(PLATFORM_SOCKETSUBSYSTEM); }

	class FMatchmakerDatagrams final : public matchmaker::Datagrams
	{
	public:
		explicit FMatchmakerDatagrams(FSocket* InSocket) : Socket(InSocket) {}
		virtual ~FMatchmakerDatagrams() override { Sockets().DestroySocket(Socket); }

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

	class FMatchmakerUdp final : public matchmaker::Udp
	{
	public:
		bool run(std::function<void()> Job) override
		{
			Async(EAsyncExecution::Thread, [Job = std::move(Job)] { Job(); });
			return true;
		}

		std::vector<std::unique_ptr<matchmaker::Datagrams>> open(const std::string& Host, const std::string& Port) override
		{
			std::vector<std::unique_ptr<matchmaker::Datagrams>> Opened;
			const FAddressInfoResult Found = Sockets().GetAddressInfo(*To(Host), *To(Port), EAddressInfoFlags::Default,
				NAME_None, ESocketType::SOCKTYPE_Datagram);
			for (const FName& Family : {FNetworkProtocolTypes::IPv4, FNetworkProtocolTypes::IPv6})
			{
				for (const FAddressInfoResultData& One : Found.Results)
				{
					if (One.Address->GetProtocolType() != Family) continue;
					FSocket* Socket = Sockets().CreateSocket(NAME_DGram, TEXT("Matchmaker"), Family);
					if (Socket == nullptr) break;
					auto Datagrams = std::make_unique<FMatchmakerDatagrams>(Socket);
					if (Socket->Connect(*One.Address)) Opened.push_back(std::move(Datagrams));
					break;
				}
			}
			return Opened;
		}
	};
}

std::shared_ptr<matchmaker::Udp> MakeMatchmakerUdp()
{
	return std::make_shared<FMatchmakerUdp>();
}
