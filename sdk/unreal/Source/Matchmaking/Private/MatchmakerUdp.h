#pragma once

#include "matchmaker/latency.h"

/** Unreal's sockets, and threads that wait for them, for measuring. */
std::shared_ptr<matchmaker::Udp> MakeMatchmakerUdp();
