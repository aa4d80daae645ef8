// Code generated from openapi.yaml. DO NOT EDIT.
#include "matchmaker/api.h"

namespace matchmaker::api {

const char* playerMessage(const std::string& problem) {
  static const struct {
    const char* code;
    const char* text;
  } messages[] = {
      {"acceptanceOpen", "This party is about to get a match. Please try again in a moment."},
      {"acceptanceOver", "It is too late to answer."},
      {"allocationEnded", "The match is over."},
      {"alreadyInParty", "You are in a party already. Please leave it first."},
      {"backfillNotFound", "This is not there any more."},
      {"configNotFound", "This is not there any more."},
      {"conflict", "This is not possible right now."},
      {"etagMismatch", "Someone else has changed this."},
      {"forbidden", "You cannot do this."},
      {"functionNotFound", "This is not there any more."},
      {"idempotencyKeyReused", "Something went wrong."},
      {"internal", "Something went wrong."},
      {"invalid", "Something went wrong."},
      {"limited", "Please wait a moment and try again."},
      {"matchUnknown", "This is not there any more."},
      {"memberNotFound", "This player is not in the party."},
      {"memberNotReady", "Not everyone in the party is ready."},
      {"membershipOutdated", "Not everyone in the party is ready."},
      {"methodNotAllowed", "Something went wrong."},
      {"notAcceptable", "Something went wrong."},
      {"notFound", "This is not there any more."},
      {"notLeader", "Only the leader of the party can do this."},
      {"partyCodeUnknown", "This code does not work. Please ask for the current one."},
      {"partyFull", "The party is full."},
      {"partyNotFound", "You are not in this party."},
      {"paused", "You, or a member of your party, missed a match. Please wait before you search again."},
      {"playerHasTicket", "You are in a search already."},
      {"playerInMatch", "You are still in a match. Please go back to it."},
      {"playerLimited", "Please wait a moment and try again."},
      {"playerSilent", "A player of your party is away."},
      {"projectLimited", "Many players are here right now. Please try again in a moment."},
      {"queueUnserved", "This game mode is not available right now."},
      {"resultFinal", "Something went wrong."},
      {"ticketMatched", "It is too late to cancel: your match is ready."},
      {"ticketNotFound", "Your search has ended."},
      {"ticketsNotListed", "Something went wrong."},
      {"tokenExpired", "Please sign in again."},
      {"tooLarge", "Something went wrong."},
      {"tooManyKicks", "This party can remove nobody else. Please make a new one."},
      {"tooManyParties", "Many players are here right now. Please try again in a moment."},
      {"tooManyStreams", "Please wait a moment and try again."},
      {"tooManyTickets", "Many players are here right now. Please try again in a moment."},
      {"unauthenticated", "Please sign in again."},
      {"unavailable", "The service cannot be reached right now. Please try again later."},
      {"unsupported", "Something went wrong."},
      {"wrongProject", "You cannot do this."},
  };
  for (const auto& m : messages) {
    if (problem == m.code) return m.text;
  }
  return nullptr;
}

Request<Json> answerMatch(const std::string& id, const MatchAnswer& body, const AnswerMatchOptions& o) {
  AnyRequest r{"POST", "v1/tickets/acceptance", true, {}, {}, {}};
  put(r.query, "id", id);
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  r.body = write(body).text();
  return Request<Json>(std::move(r));
}

Request<BackfillTicket> approveBackfill(const std::string& backfillId) {
  AnyRequest r{"POST", "v2/backfill/" + segment(backfillId) + "/approvals", true, {}, {}, {}};
  return Request<BackfillTicket>(std::move(r));
}

Request<CreatedBackfillTicket> createBackfill(const BackfillRequest& body) {
  AnyRequest r{"POST", "v2/backfill", false, {}, {}, {}};
  r.body = write(body).text();
  return Request<CreatedBackfillTicket>(std::move(r));
}

Request<Party> createParty(const CreateParty& body, const CreatePartyOptions& o) {
  AnyRequest r{"POST", "v1/parties", false, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  r.body = write(body).text();
  return Request<Party>(std::move(r));
}

Request<CreatedTicket> createTicket(const CreateTicket& body, const CreateTicketOptions& o) {
  AnyRequest r{"POST", "v1/tickets", true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  put(r.headers, "Prefer", o.prefer);
  put(r.headers, "Idempotency-Key", o.idempotencyKey);
  r.body = write(body).text();
  return Request<CreatedTicket>(std::move(r));
}

Request<Json> deleteBackfill(const std::string& backfillId) {
  AnyRequest r{"DELETE", "v2/backfill/" + segment(backfillId), true, {}, {}, {}};
  return Request<Json>(std::move(r));
}

Request<Json> deleteTicket(const std::string& id, const DeleteTicketOptions& o) {
  AnyRequest r{"DELETE", "v1/tickets", true, {}, {}, {}};
  put(r.query, "id", id);
  put(r.query, "unlessAssigned", o.unlessAssigned);
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Json>(std::move(r));
}

Request<Json> disbandParty(const std::string& partyId, const DisbandPartyOptions& o) {
  AnyRequest r{"DELETE", "v1/parties/" + segment(partyId), true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Json>(std::move(r));
}

Request<Json> followParty(const std::string& partyId, const FollowPartyOptions& o) {
  AnyRequest r{"GET", "v1/parties/" + segment(partyId) + "/events", true, {}, {}, {}};
  put(r.headers, "Last-Event-ID", o.lastEventId);
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Json>(std::move(r));
}

Request<Json> followTicket(const std::string& id, const FollowTicketOptions& o) {
  AnyRequest r{"GET", "v1/tickets/events", true, {}, {}, {}};
  put(r.query, "id", id);
  put(r.headers, "Last-Event-ID", o.lastEventId);
  return Request<Json>(std::move(r));
}

Request<Party> getParty(const std::string& partyId, const GetPartyOptions& o) {
  AnyRequest r{"GET", "v1/parties/" + segment(partyId), true, {}, {}, {}};
  put(r.headers, "If-None-Match", o.ifNoneMatch);
  put(r.headers, "Prefer", o.prefer);
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Party>(std::move(r));
}

Request<Json> getTicket(const GetTicketOptions& o) {
  AnyRequest r{"GET", "v1/tickets", true, {}, {}, {}};
  put(r.query, "id", o.id);
  put(r.query, "player", o.player);
  put(r.query, "key", o.key);
  put(r.query, "estimate", o.estimate);
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  put(r.headers, "Prefer", o.prefer);
  return Request<Json>(std::move(r));
}

Request<Party> joinParty(const JoinParty& body, const JoinPartyOptions& o) {
  AnyRequest r{"POST", "v1/parties/members", true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  r.body = write(body).text();
  return Request<Party>(std::move(r));
}

Request<Leaderboard> leaderboard(const std::string& ratingName, const LeaderboardOptions& o) {
  AnyRequest r{"GET", "v1/ratings/" + segment(ratingName) + "/leaderboard", true, {}, {}, {}};
  put(r.query, "season", o.season);
  put(r.query, "limit", o.limit);
  put(r.query, "after", o.after);
  return Request<Leaderboard>(std::move(r));
}

Request<Party> leaveParty(const std::string& partyId, const std::string& playerId, const LeavePartyOptions& o) {
  AnyRequest r{"DELETE", "v1/parties/" + segment(partyId) + "/members/" + segment(playerId), true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Party>(std::move(r));
}

Request<Regions> listRegions() {
  AnyRequest r{"GET", "v1/regions", true, {}, {}, {}};
  return Request<Regions>(std::move(r));
}

Request<Party> myParty(const MyPartyOptions& o) {
  AnyRequest r{"GET", "v1/parties", true, {}, {}, {}};
  put(r.headers, "If-None-Match", o.ifNoneMatch);
  put(r.headers, "Prefer", o.prefer);
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Party>(std::move(r));
}

Request<PlayerRatings> playerRatings(const std::string& playerId) {
  AnyRequest r{"GET", "v1/players/" + segment(playerId) + "/ratings", true, {}, {}, {}};
  return Request<PlayerRatings>(std::move(r));
}

Request<BackfillTicket> putBackfill(const std::string& backfillId, const BackfillTicketUpdate& body) {
  AnyRequest r{"PUT", "v2/backfill/" + segment(backfillId), true, {}, {}, {}};
  r.body = write(body).text();
  return Request<BackfillTicket>(std::move(r));
}

Request<RatingHistory> ratingHistory(const std::string& playerId) {
  AnyRequest r{"GET", "v1/players/" + segment(playerId) + "/ratings/history", true, {}, {}, {}};
  return Request<RatingHistory>(std::move(r));
}

Request<Party> renewPartyCode(const std::string& partyId, const RenewPartyCodeOptions& o) {
  AnyRequest r{"POST", "v1/parties/" + segment(partyId) + "/code", true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Party>(std::move(r));
}

Request<ServerToken> renewServerToken() {
  AnyRequest r{"POST", "v1/servers/token", true, {}, {}, {}};
  return Request<ServerToken>(std::move(r));
}

Request<MatchResult> reportResult(const std::string& matchId, const ReportResult& body) {
  AnyRequest r{"POST", "v1/matches/" + segment(matchId) + "/result", true, {}, {}, {}};
  r.body = write(body).text();
  return Request<MatchResult>(std::move(r));
}

Request<RunningMatch> runningMatch(const std::string& playerId) {
  AnyRequest r{"GET", "v1/players/" + segment(playerId) + "/match", true, {}, {}, {}};
  return Request<RunningMatch>(std::move(r));
}

Request<Party> setPartyLeader(const std::string& partyId, const SetPartyLeader& body, const SetPartyLeaderOptions& o) {
  AnyRequest r{"PUT", "v1/parties/" + segment(partyId) + "/leader", true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  r.body = write(body).text();
  return Request<Party>(std::move(r));
}

Request<Party> startPartySearch(const std::string& partyId, const StartPartySearch& body, const StartPartySearchOptions& o) {
  AnyRequest r{"PUT", "v1/parties/" + segment(partyId) + "/search", true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  r.body = write(body).text();
  return Request<Party>(std::move(r));
}

Request<Party> stopPartySearch(const std::string& partyId, const StopPartySearchOptions& o) {
  AnyRequest r{"DELETE", "v1/parties/" + segment(partyId) + "/search", true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  return Request<Party>(std::move(r));
}

Request<Party> updatePartyMember(const std::string& partyId, const std::string& playerId, const PartyMembership& body, const UpdatePartyMemberOptions& o) {
  AnyRequest r{"PUT", "v1/parties/" + segment(partyId) + "/members/" + segment(playerId), true, {}, {}, {}};
  put(r.headers, "X-On-Behalf-Of", o.onBehalfOf);
  r.body = write(body).text();
  return Request<Party>(std::move(r));
}

}  // namespace matchmaker::api
