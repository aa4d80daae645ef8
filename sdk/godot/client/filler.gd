# Keeps a running game filled, for its server. The client's token is the server's.
#
# `game` is what the game is now, as the API has it: `Connection`, where its server is, `attributes`, usually how many more
# players it takes, and `queue`, `players`, `properties`. Set it again when it changes, and within `joined`, with those
# counted in. What it does not name stays as functions left it.

const Connection = preload("res://addons/matchmaker/client/connection.gd")

# The tickets that have joined: each once. Their players will connect soon.
signal joined(tickets)
# What went wrong. The filling goes on.
signal failed(problem)
# The end, with a problem, or null.
signal ended(problem)

# The time between two approvals, the longest pause after failures, and for how long a ticket is remembered that the
# service tells of no more.
const EVERY = 1000.0
const MAX_PAUSE = 10000.0
const MEMORY = 600000.0

var _c
var _id
var _game
var _pause = EVERY
var _due = 0.0
var _soonest = 0.0
var _changed = false
var _busy = false
var _ending = false
var _joined = {} # when the service told of a ticket last

# `backfill` is the ticket that was made together with the game's match; empty: one is created.
func _init(c, game, backfill):
	_c = c
	_game = game
	_id = backfill
	c.add(self)

func update(game):
	_game = game
	_changed = true

# The game takes no more players: tickets that are still proposed go elsewhere.
func end():
	_ending = true

func stop():
	pass

func step():
	if _busy:
		return false
	if _ending:
		if _id == "":
			emit_signal("ended", null)
		else:
			_send("DELETE", "", null, "_deleted")
		return true
	var now = _c.clock.steady()
	if now < _due and not (_changed and now >= _soonest):
		return false
	_changed = false
	if _id == "":
		_create()
	else:
		_send("POST", "/approvals", null, "_approved")
	return false

func _create():
	_busy = true
	_c.ask(Connection.request("POST", "v2/backfill", {"body": _game, "repeatable": false}), [self, "_created"])

func _send(method, below, body, done):
	_busy = true
	var more = {} if body == null else {"body": body}
	_c.send(Connection.request(method, "v2/backfill/" + Connection.segment(_id) + below, more), [self, done])

func _created(told, problem):
	_settle(problem)
	if problem == null:
		_id = str(told.get("Id", ""))

func _approved(told, problem):
	if problem != null and problem.is_missing():
		_id = "" # the service gave the game up while it could not be reached
		_busy = false
		if not _ending:
			_create()
		return
	_settle(problem)
	if problem != null or told == null:
		return
	_let_in(told.get("assignedTickets", []))
	if _ending:
		return
	var body = told.duplicate(true)
	for name in ["Connection", "attributes", "properties", "players"]:
		if not _game.has(name):
			continue
		if typeof(_game[name]) == TYPE_DICTIONARY and typeof(body.get(name)) == TYPE_DICTIONARY:
			for key in _game[name]:
				body[name][key] = _game[name][key]
		else:
			body[name] = _game[name]
	_changed = false
	if not _same(body, told):
		_send("PUT", "", body, "_put")

func _let_in(tickets):
	var now = _c.clock.steady()
	var fresh = []
	for ticket in tickets:
		if not _joined.has(ticket.id):
			fresh.append(ticket)
		_joined[ticket.id] = now
	for id in _joined.keys():
		if now - _joined[id] > MEMORY:
			_joined.erase(id)
	if fresh.size() > 0:
		emit_signal("joined", fresh)

# Numbers of JSON have points, and those of games may have none.
func _same(one, other):
	if typeof(one) == TYPE_DICTIONARY and typeof(other) == TYPE_DICTIONARY:
		for key in one:
			if not other.has(key) or not _same(one[key], other[key]):
				return false
		return one.size() == other.size()
	if typeof(one) == TYPE_ARRAY and typeof(other) == TYPE_ARRAY:
		for i in range(one.size()):
			if i >= other.size() or not _same(one[i], other[i]):
				return false
		return one.size() == other.size()
	var numbers = [TYPE_INT, typeof(0.5)]
	return one == other if typeof(one) in numbers and typeof(other) in numbers else str(one) == str(other)

func _put(_told, problem):
	_settle(problem)

func _deleted(_told, problem):
	emit_signal("ended", problem)

func _settle(problem):
	_busy = false
	_pause = min(2 * _pause, MAX_PAUSE) if problem != null else EVERY
	_soonest = _c.clock.steady() + EVERY / 10
	_due = _c.clock.steady() + _pause
	if problem != null:
		emit_signal("failed", problem)
