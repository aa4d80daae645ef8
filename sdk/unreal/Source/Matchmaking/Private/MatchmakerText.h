#pragma once

#include <string>

#include "CoreMinimal.h"

/** Texts between Unreal and the client, which has UTF-8. */
namespace MatchmakerText
{
	inline std::string From(const FString& Text) { return std::string(TCHAR_TO_UTF8(*Text)); }
	inline FString To(const std::string& Text) { return FString(UTF8_TO_TCHAR(Text.c_str())); }
}
