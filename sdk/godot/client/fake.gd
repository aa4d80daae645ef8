# The service in memory, for a game's own tests: clients ask it as they ask the real one. It matches nobody by itself; the
# test says what happens. It leaves out players without a ticket that waits.
#
#	var fake = preload("res://addons/matchmaker/client/fake.gd").new(100)
#	Matchmaker.open_fake(fake, "ada") # or a client without the autoload: fake.client("ada"), which the test pumps

const Client = preload("res://addons/matchmaker/client/client.gd")
const Platform = preload("res://addons/matchmaker/engine.gd")

# How many milliseconds an answer takes.
var slow = 0
# Creates of tickets are refused: come again in so many seconds. 0: they are not.
var full = 0
# Nothing is answered, and what is open breaks.
var gone = false
# What is measured, as GET /regions lists it.
var regions = []

# In milliseconds: where the program stood still, no more time than that passed, so that no stream is taken for broken.
const MAX_STEP = 5000.0

var _speed
var _now = Platform.wall()
var _looked = _now
var _count = 0
var _tickets = []
var _parties = []
var _games = []
var _calls = []

# `speed` is how much faster time passes for the service and its clients: 100 makes an hour 36 seconds. A frame
# takes 5 s of it at most: at 60 frames a second, 300 is the most.
func _init(speed = 1):
	_speed = speed

# A player's client: what the autoload calls the service by. pump() it, and close() it at the end.
func client(player):
	var of = Client.new("http://fake.invalid", "fake", [self, "_asked"], self)
	of.connection.network = self
	of.connection.tokens.want()
	of.connection.tokens.answer("fake." + Marshalls.utf8_to_base64(Platform.json({"sub": player})) + ".fake", "")
	return of

# Streams break; clients come back.
func cut():
	for call in _calls:
		call.broken = call.stream != ""

# The players whose tickets wait.
func waiting():
	var players = []
	for ticket in _tickets:
		if _waits(ticket):
			players += ticket.players
	return players

# Players get the same match. `of`: connection, properties of the match, or an error such as AllocationError.
func assign(players, of = {}):
	_assign(_of(players), of)

# A match asks players whether they accept it. When all have, they get it.
func offer(players, seconds = 20, of = {}):
	var tickets = _of(players)
	var asks = {"match": _id("match"), "ends": wall() + seconds * 1000.0, "asked": [], "accepted": [], "then": of}
	for ticket in tickets:
		ticket.offer = asks
		asks.asked += ticket.players
	_tell_all(tickets)

# A player accepts or declines the match that asks, as its client may.
func answer(player, accept):
	for ticket in _of([player]):
		if ticket.offer == null or player in ticket.offer.accepted:
			return
		var asks = ticket.offer
		if not accept:
			_end_offer(asks, [player], "declined")
			return
		asks.accepted.append(player)
		if asks.accepted.size() == asks.asked.size():
			_assign(_with(asks), asks.then)
		else:
			_tell_all(_with(asks))

# A player's ticket ends without a match: abandoned, unserved, …
func end(player, reason):
	for ticket in _of([player]):
		_end(ticket, reason)

# The running games that servers fill, as they were told last.
func games():
	var told = []
	for game in _games:
		told.append(game.state)
	return told

# Players join the running game that was created last, when its server approves next.
func join(players):
	_games[-1].proposed += _of(players)

# Clients have their time and their connections from here on.

func wall():
	var at = Platform.wall()
	_now += clamp((at - _looked) * _speed, 0.0, MAX_STEP)
	_looked = at
	return _now

func steady():
	return wall()

func knows(_host):
	return true

func open(_host, _port, _tls):
	return Call.new(self)

# A connection as HTTPClient is one, with one request, and behind it a stream of a ticket or a party.
class Call:
	var due = 0.0
	var method = ""
	var path = []
	var query = {}
	var headers = {}
	var body = {}
	var player = ""
	var status = HTTPClient.STATUS_CONNECTED
	var code = 0
	var told = ["Content-Type: application/json"]
	var text = ""
	var stream = ""
	var ends = true
	var broken = false
	var _fake

	func _init(fake):
		_fake = fake

	func request(of_method, at, of_headers, of_body):
		method = {
			HTTPClient.METHOD_GET: "GET", HTTPClient.METHOD_POST: "POST", HTTPClient.METHOD_PUT: "PUT",
			HTTPClient.METHOD_DELETE: "DELETE",
		}[of_method]
		var parts = at.split("?")
		for part in parts[0].substr(parts[0].find("/api/v") + 6, parts[0].length()).split("/"):
			path.append(Platform.unescaped(part))
		path += ["", "", ""]
		for part in parts[1].split("&") if parts.size() > 1 else []:
			query[part.split("=")[0]] = Platform.unescaped(part.split("=")[1])
		for line in of_headers:
			var colon = line.find(": ")
			headers[line.substr(0, colon)] = line.substr(colon + 2, line.length())
		if of_body != "":
			body = Platform.parse(of_body)
		player = Platform.parse(Marshalls.base64_to_utf8(headers["Authorization"].split(".")[1])).sub
		status = HTTPClient.STATUS_REQUESTING
		_fake.begin(self)
		return OK

	func poll():
		_fake.go_on(self)

	func get_status():
		return status

	func has_response():
		return code != 0

	func get_response_code():
		return code

	func get_response_headers():
		return told

	func read_response_body_chunk():
		var chunk = Platform.utf8(text)
		if text == "" and ends:
			status = HTTPClient.STATUS_CONNECTED
		text = ""
		return chunk

	func close():
		_fake.leave(self)

	# What is answered.
	func tell(of_code, of_body = null):
		code = of_code
		text = "" if of_body == null else Platform.json(of_body)

	func refuse(of_code, problem):
		tell(of_code, {"status": of_code, "title": problem, "detail": "the fake says " + problem, "code": problem})
		told = ["Content-Type: application/problem+json"]

func begin(call):
	call.due = wall() + slow
	_calls.append(call)

func leave(call):
	_calls.erase(call)

func go_on(call):
	for ticket in _tickets:
		if ticket.offer != null and wall() >= ticket.offer.ends:
			var silent = []
			for player in ticket.offer.asked:
				if not player in ticket.offer.accepted:
					silent.append(player)
			_end_offer(ticket.offer, silent, "silent")
	if call.status == HTTPClient.STATUS_CONNECTED or wall() < call.due:
		return
	if gone or call.broken:
		call.status = HTTPClient.STATUS_CONNECTION_ERROR
	elif call.status == HTTPClient.STATUS_REQUESTING:
		call.status = HTTPClient.STATUS_BODY
		_answer(call)

# The rest is the fake's own.

func _asked(_why):
	pass

func _answer(call):
	match call.path[0] + " " + call.path[1]:
		"1 tickets":
			_answer_ticket(call)
		"1 parties":
			_answer_party(call)
		"1 regions":
			call.tell(200, {"regions": regions, "receiptSeconds": 60 if regions.size() > 0 else 0})
		"2 backfill":
			_answer_backfill(call)
		_:
			call.refuse(404, "notFound")

func _answer_ticket(call):
	if call.method == "POST" and call.path[2] == "":
		_create(call)
		return
	if call.query.has("key") or call.query.has("player"):
		var own = []
		for ticket in _tickets:
			var keyed = call.query.get("key", ticket.key) == ticket.key
			if not ticket.ended and call.player in ticket.players and keyed:
				own.push_front(_shown(ticket))
		call.tell(200, {"tickets": own})
		return
	for ticket in _tickets:
		if ticket.api.id == call.query.get("id") and not ticket.ended and call.player in ticket.players:
			_answer_about(call, ticket)
			return
	call.refuse(404, "ticketNotFound")

func _create(call):
	var key = call.headers.get("Idempotency-Key", "").replace("\"", "")
	for ticket in _tickets:
		if key != "" and ticket.key == key:
			call.tell(201, {"id": ticket.api.id})
			return
	if full > 0:
		call.refuse(429, "tooManyTickets")
		call.told.append("Retry-After: " + str(full))
	elif _of([call.player]).size() > 0:
		call.refuse(409, "playerHasTicket")
	else:
		call.tell(201, {"id": _ticket([call.player], call.body, key).api.id})

func _answer_about(call, ticket):
	if call.path[2] == "events":
		_follow(call, ticket.api.id)
		_tell(ticket)
	elif call.path[2] == "acceptance":
		if ticket.offer == null or ticket.offer.match != call.body.get("match"):
			call.refuse(409, "acceptanceOver")
			return
		answer(call.player, call.body.get("accept", false))
		call.tell(204)
	elif call.method == "GET":
		call.tell(200, _shown(ticket))
	elif ticket.api.has("assignment") and call.query.has("unlessAssigned"):
		call.refuse(409, "ticketMatched")
	else:
		_end(ticket, "deleted")
		call.tell(200, {})

func _answer_backfill(call):
	if call.path[2] == "":
		_games.append({"id": _id("backfill"), "state": call.body, "proposed": [], "joined": []})
		call.tell(201, {"Id": _games[-1].id})
		return
	var game = _first(_games, call.path[2])
	if game == null:
		call.refuse(404, "backfillNotFound")
		return
	if call.method == "DELETE":
		_games.erase(game)
		call.tell(204)
		return
	if call.method == "PUT":
		game.state = call.body # it rejects the proposed tickets
	else:
		for ticket in game.proposed:
			if _waits(ticket):
				game.joined.append(ticket)
				_assign([ticket], {"connection": game.state.Connection})
	game.proposed = []
	var joined = []
	for ticket in game.joined:
		joined.append(_shown(ticket))
	var now = game.state.duplicate(true)
	now["Id"] = game.id
	now["assignedTickets"] = joined
	call.tell(200, now)

func _answer_party(call):
	var own = null
	for party in _parties:
		if _member(party, call.player) != null:
			own = party
	if call.method == "POST" and call.path[2] in ["", "members"]:
		_enter(call, own)
		return
	if own == null or call.path[2] != "" and call.path[2] != own.id:
		call.refuse(404, "partyNotFound")
		return
	var what = call.path[3]
	if what == "" and call.method == "GET":
		if call.headers.get("If-None-Match") == "\"" + str(own.revision) + "\"":
			call.tell(304)
		else:
			call.tell(200, own)
	elif what == "events":
		_follow(call, own.id)
		_send(own.id, "party", own, call.player)
	elif own.leader != call.player and not (what == "members" and call.path[4] == call.player):
		call.refuse(403, "notLeader")
	elif what == "":
		_leave(call, own, own.members.duplicate(), "disbanded")
	else:
		_change(call, own, what)

func _change(call, party, what):
	var member = _first(party.members, call.path[4])
	if what == "members" and member == null:
		call.refuse(404, "memberNotFound")
	elif what == "members" and call.method == "DELETE":
		_leave(call, party, [member], "left" if member.id == call.player else "kicked")
	elif what == "search" and call.method == "PUT" and not _all_ready(party):
		call.refuse(409, "memberNotReady")
	else:
		match what:
			"leader":
				party.leader = call.body.player
			"code":
				party.code = _code()
			"members":
				for name in call.body:
					member[name] = call.body[name]
			"search":
				_search(party, call)
		_changed(party)
		call.tell(200, party)

func _search(party, call):
	if call.method == "DELETE":
		_stop(party)
	elif _search_of(party) == null:
		var players = []
		for member in party.members:
			players.append(member.id)
		var ticket = _ticket(players, call.body, "")
		party.search = {"ticket": ticket.api.id, "started": ticket.api.created}

func _enter(call, own):
	var member = call.body.duplicate(true)
	member["id"] = call.player
	member["ready"] = member.get("ready", true)
	var code = str(member.get("code", "")).to_upper().replace("-", "").replace(" ", "")
	var party = null
	for of in _parties:
		if call.path[2] == "members" and of.code == code and not call.player in of.kicked:
			party = of
	var joins = call.path[2] == "members"
	if own != null and own != party:
		call.refuse(409, "alreadyInParty")
	elif own != null:
		call.tell(200, own)
	elif joins and party == null:
		call.refuse(404, "partyCodeUnknown")
	elif joins and party.members.size() >= party.size:
		call.refuse(409, "partyFull")
	elif joins:
		_stop(party)
		party.members.append(member)
		_changed(party)
		call.tell(200, party)
	else:
		_parties.append({
			"id": _id("party"), "code": _code(), "leader": call.player, "created": wall(), "revision": 1,
			"size": call.body.get("size", 16), "members": [member], "search": null, "kicked": [],
		})
		call.tell(201, _parties[-1])

func _leave(call, party, members, reason):
	_stop(party)
	for member in members:
		if reason == "kicked":
			party.kicked.append(member.id)
		party.members.erase(member)
		_send(party.id, "ended", {"id": party.id, "reason": reason}, member.id)
	call.tell(204)
	if party.members.size() == 0:
		_parties.erase(party)
		return
	if _member(party, party.leader) == null:
		party.leader = party.members[0].id
	party.code = _code()
	_changed(party)
	if reason == "kicked":
		call.tell(200, party)

func _changed(party):
	party.revision += 1
	_send(party.id, "party", party)

func _stop(party):
	var ticket = _search_of(party)
	party.search = null
	if ticket != null:
		_end(ticket, "deleted")

func _search_of(party):
	for ticket in _tickets:
		if party.search != null and ticket.api.id == party.search.ticket and _waits(ticket):
			return ticket
	return null

func _all_ready(party):
	for member in party.members:
		if not member.ready:
			return false
	return true

func _member(party, player):
	return _first(party.members, player)

static func _first(all, id):
	for of in all:
		if of.id == id:
			return of
	return null

func _id(of):
	_count += 1
	return of + "-" + str(_count)

func _code():
	_count += 1
	return "FAKE" + str(10000 + _count)

func _ticket(players, body, key):
	var api = body.duplicate(true)
	api["id"] = _id("ticket")
	api["created"] = wall()
	_tickets.append({"api": api, "players": players, "key": key, "offer": null, "ended": false})
	return _tickets[-1]

func _waits(ticket):
	return not ticket.ended and not ticket.api.has("assignment")

func _of(players):
	var found = []
	for ticket in _tickets:
		for player in ticket.players:
			if _waits(ticket) and player in players and not ticket in found:
				found.append(ticket)
	return found

func _with(asks):
	var found = []
	for ticket in _tickets:
		if not ticket.ended and ticket.offer != null and ticket.offer.match == asks.match:
			found.append(ticket)
	return found

func _shown(ticket):
	if ticket.offer == null:
		return ticket.api
	var unanswered = []
	for player in ticket.players:
		if not player in ticket.offer.accepted:
			unanswered.append(player)
	var told = ticket.api.duplicate()
	told["acceptance"] = {
		"match": ticket.offer.match, "remaining": max(0, ticket.offer.ends - wall()), "unanswered": unanswered,
		"players": ticket.offer.asked.size(), "accepted": ticket.offer.accepted.size(),
	}
	return told

func _assign(tickets, of):
	for ticket in tickets:
		var seats = {}
		for player in ticket.players:
			seats[player] = "seat of " + player
		var wrong = of.get("error", "")
		ticket.offer = null
		ticket.api["assignment"] = {
			"connection": of.get("connection", "127.0.0.1:7777") if wrong == "" else "", "error": wrong, "seats": seats,
			"matchproperties": of.get("properties", {}),
		}
	_tell_all(tickets)

# An acceptance ends: the tickets of some players end, the others wait again.
func _end_offer(asks, players, reason):
	for ticket in _with(asks):
		ticket.offer = null
		var ends = false
		for player in ticket.players:
			ends = ends or player in players
		if ends:
			_end(ticket, reason)
		else:
			_tell(ticket)

func _end(ticket, reason):
	var asks = ticket.offer
	ticket.ended = true
	ticket.offer = null
	_send(ticket.api.id, "ended", {"id": ticket.api.id, "reason": reason})
	if asks != null:
		_end_offer(asks, [], "")

func _follow(call, id):
	call.tell(200)
	call.told = ["Content-Type: text/event-stream"]
	call.stream = id
	call.ends = false

func _tell_all(tickets):
	for ticket in tickets:
		_tell(ticket)

func _tell(ticket):
	var asked = "acceptance" if ticket.offer != null else "waiting"
	_send(ticket.api.id, "assigned" if ticket.api.has("assignment") else asked, _shown(ticket))

func _send(id, kind, told, player = ""):
	for call in _calls:
		if call.stream == id and not call.ends and (player == "" or call.player == player):
			call.text += "id: " + kind + "\nevent: " + kind + "\ndata: " + Platform.json(told) + "\n\n"
			call.ends = kind == "ended" or kind == "assigned"
