# The service, for one player: what the node Matchmaker is made of. It asks nothing before it is told to. Everything
# happens within pump.

const Connection = preload("res://addons/matchmaker/client/connection.gd")
const Filler = preload("res://addons/matchmaker/client/filler.gd")
const Latencies = preload("res://addons/matchmaker/client/latencies.gd")
const Party = preload("res://addons/matchmaker/client/party.gd")
const Platform = preload("res://addons/matchmaker/engine.gd")
const Problem = preload("res://addons/matchmaker/client/problem.gd")
const Search = preload("res://addons/matchmaker/client/search.gd")

# restore has found a search, or null; with a problem, or null. A party is there, or null with a problem, or null.
signal restored(search, problem)
signal party_entered(party, problem)
# The latencies of all regions (region.gd says what one has), and a problem, or null.
signal measured(latencies, problem)

var connection
var _latencies

# `ask` is an object and its method, which gets why a token is needed.
func _init(url, project, ask, clock):
	connection = Connection.new(url, project, ask, clock)
	_latencies = Latencies.new(connection)

# Goes on with everything, and emits signals. Within what these call it does nothing.
func pump():
	connection.pump()

func close():
	connection.close()

# `options`: queues, attributes, values (any JSON for rules, by name), latencies (milliseconds by region), receipts, and
# timeout in seconds.
func search(options = {}):
	var body = carried(options)
	var of = Search.new(connection, options.get("timeout", 3600) * 1000.0)
	var create = Create.new(connection, body, of)
	connection.who_is([create, "known"])
	return of

# Goes on with a search that the game does not know any more: the one that is kept, or else the player's newest ticket, if
# the project lists them.
func restore():
	connection.who_is([Restore.new(connection, self), "known"])

func forget():
	connection.save({})

# `options`: attributes, values, ready; size of the party.
func create_party(options = {}, size = 0):
	var body = carried(options)
	body["ready"] = options.get("ready", true)
	if size > 0:
		body["size"] = size
	_enter(Connection.request("POST", "v1/parties", {"body": body, "repeatable": false}))

# Joins the party with a code, as people type it.
func join_party(code, options = {}):
	var body = carried(options)
	body["ready"] = options.get("ready", true)
	body["code"] = code
	_enter(Connection.request("POST", "v1/parties/members", {"body": body}))

# Goes on with the player's party.
func party():
	_enter(Connection.request("GET", "v1/parties", {}))

# Measures how far each region is, where that is not known of the network. `options`: network, a text that changes with the
# network that the device is on; anew, to measure in any case; probes, up to 20; timeout in seconds, up to 2.
func measure(options = {}):
	_latencies.get_for(options.get("network", ""), options, [self, "_measured"])

# What proves latencies to the service, as search and parties take it.
static func receipts(latencies):
	var all = []
	for latency in latencies:
		all += latency.receipts
	return all

# Keeps a running game filled: filler.gd says what a game is.
func fill(game, backfill = ""):
	return Filler.new(connection, game, backfill)

# Sends a request of the API as it is. `more` has its query, headers and body; `done`, an object and its method, gets the
# answer and the problem.
func send(method, path, more, done):
	connection.send(Connection.request(method, path, more), done)

# The app goes to the background: nothing is asked until it comes back.
func suspend():
	connection.suspended = true
	connection.wake()

func resume():
	connection.suspended = false
	connection.wake()

# What a ticket or a member carries, as requests have it.
static func carried(options):
	var body = {}
	for name in ["attributes", "queues", "receipts"]:
		if options.has(name):
			body[name] = options[name]
	var values = options.get("values", {}).duplicate()
	if options.has("latencies"):
		values["latency"] = options.latencies
	if values.size() > 0:
		body["properties"] = {}
	for name in values:
		body.properties[name] = Marshalls.utf8_to_base64(Platform.json(values[name]))
	return body

func _measured(latencies, problem):
	emit_signal("measured", latencies, problem)

func _enter(request):
	connection.who_is([Enter.new(connection, request, self), "known"])

# Creates a ticket. A create whose answer was lost makes one ticket, by its key, which is the player's own.
class Create:
	var _c
	var _body
	var _of
	var _key = ""
	var _before = {} # another ticket, which the player may have still when there is no new one
	var _failure

	func _init(c, body, of):
		_c = c
		_body = body
		_of = of

	func known(problem):
		if problem != null:
			_of.created("", problem)
			return
		_key = Crypto.new().generate_random_bytes(16).hex_encode()
		_before = _c.kept()
		_before.erase("key")
		_c.save({"key": _key})
		var more = {"headers": {"Idempotency-Key": "\"" + _key + "\""}, "body": _body}
		var sending = _c.ask(Connection.request("POST", "v1/tickets", more), [self, "_answered"])
		sending.life = _of.life()
		sending.tries = _of.tries()

	func _answered(told, problem):
		if problem == null and str(told.get("id", "")) == "":
			_of.created("", Problem.new("unexpected", "the answer to the create has no id"))
		elif problem == null:
			_made(str(told.id))
		elif problem.unanswered:
			_failure = problem
			var sending = _c.ask(Connection.request("GET", "v1/tickets", {"query": {"key": _key}}), [self, "_found"])
			sending.life = _of.life()
		else:
			_c.replace({"key": _key}, _before)
			_of.created("", problem)

	func _found(told, problem):
		var tickets = told.get("tickets", []) if problem == null else []
		if tickets.size() > 0:
			_made(str(tickets[0].id))
			return
		_failure.unanswered = problem != null # else there is no ticket
		if problem == null:
			_c.replace({"key": _key}, _before)
		_of.created("", _failure)

	func _made(ticket):
		_c.replace({"key": _key}, {"ticket": ticket})
		_of.created(ticket, null)

class Restore:
	var _c
	var _of
	var _kept

	func _init(c, of):
		_c = c
		_of = of

	func known(problem):
		if problem != null:
			_of.emit_signal("restored", null, problem)
			return
		_kept = _c.kept()
		if _kept.has("ticket"):
			_c.ask(Connection.request("GET", "v1/tickets", {"query": {"id": _kept.ticket}}), [self, "_read"])
		elif _kept.has("key"):
			_c.ask(Connection.request("GET", "v1/tickets", {"query": {"key": _kept.key}}), [self, "_with_key"])
		else:
			_newest()

	func _read(told, problem):
		if problem == null and _goes_on(told):
			_found(str(told.id))
		elif problem != null and not problem.is_missing():
			_of.emit_signal("restored", null, problem)
		else:
			_newest()

	func _with_key(told, problem):
		if problem != null:
			_of.emit_signal("restored", null, problem)
		elif told.get("tickets", []).size() > 0:
			_found(str(told.tickets[0].id))
		else:
			_newest()

	func _newest():
		if _c.player == "":
			_found("")
		else:
			_c.ask(Connection.request("GET", "v1/tickets", {"query": {"player": _c.player}}), [self, "_listed"])

	func _listed(told, problem):
		if problem != null and problem.problem != "ticketsNotListed":
			_of.emit_signal("restored", null, problem)
			return
		for ticket in told.get("tickets", []) if problem == null else []:
			if _goes_on(ticket):
				_found(str(ticket.id))
				return
		_found("")

	func _goes_on(ticket):
		var a = ticket.get("assignment")
		return typeof(a) != TYPE_DICTIONARY or str(a.get("error", "")) == ""

	func _found(ticket):
		_c.replace(_kept, {"ticket": ticket} if ticket != "" else {})
		var search = null
		if ticket != "":
			search = Search.new(_c, Search.HOUR)
			search.created(ticket, null)
		_of.emit_signal("restored", search, null)

class Enter:
	var _c
	var _request
	var _of
	var _failure

	func _init(c, request, of):
		_c = c
		_request = request
		_of = of

	func known(problem):
		if problem == null:
			_c.ask(_request, [self, "_answered"])
		else:
			_of.emit_signal("party_entered", null, problem)

	func _answered(told, problem):
		if problem == null:
			_of.emit_signal("party_entered", Party.new(_c, told), null)
		elif problem.unanswered and not _request.repeatable:
			_failure = problem
			_c.ask(Connection.request("GET", "v1/parties", {}), [self, "_own"])
		else:
			var none = _request.method == "GET" and problem.is_missing()
			_of.emit_signal("party_entered", null, null if none else problem)

	# The answer to a create was lost: is there the party?
	func _own(told, problem):
		var own = problem == null and told.leader == _c.player and told.members.size() == 1
		_of.emit_signal("party_entered", Party.new(_c, told) if own else null, null if own else _failure)
