#include "matchmaker/error.h"

#include "matchmaker/api.h"

namespace matchmaker {
namespace {

struct Text {
  const char* name;
  const char* player;
};

/** By the numbers of the codes. */
const Text texts[] = {
    {"none", ""},
    {"offline", "The service cannot be reached. Please check your connection and try again."},
    {"busy", "Many players are here right now. Please try again in a moment."},
    {"token", "Please sign in again."},
    {"forbidden", "You cannot do this."},
    {"not_found", "This is not there any more."},
    {"conflict", "This is not possible right now."},
    {"invalid", "Something went wrong."},
    {"unexpected", "Something went wrong. Please try again later."},
    {"ended", "The search has ended. Please search again."},
    {"failed", "No match could be made. Please search again."},
    {"cancelled", "The search was cancelled."},
    {"timeout", "No match was found in time. Please search again."},
};

}  // namespace

const char* name(Code code) { return texts[static_cast<int>(code)].name; }

std::string Error::playerMessage() const {
  if (const char* known = api::playerMessage(problem)) return known;
  if (code == Code::Ended && reason == "declined") return "You declined the match.";
  if (code == Code::Ended && reason == "silent") return "You did not accept the match in time.";
  if (code == Code::Ended && reason == "unserved") return "This game mode is not available right now.";
  return texts[static_cast<int>(code)].player;
}

}  // namespace matchmaker
