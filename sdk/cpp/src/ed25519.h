#pragma once

#include <string>

namespace matchmaker {

/** Whether a message is signed with a key, as RFC 8032 says. */
bool verifyEd25519(const std::string& key, const std::string& message, const std::string& signature);

}  // namespace matchmaker
