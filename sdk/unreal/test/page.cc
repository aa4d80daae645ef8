// The code of the README, which is compiled. CMake puts it into readme.inc.
#include "MatchmakerSubsystem.h"

namespace {

void Login(matchmaker::Why, std::function<void(matchmaker::Token)>) {}
void Show(const matchmaker::Update&) {}

}  // namespace

void page(const UGameInstance* GameInstance) {
#include "readme.inc"
}
