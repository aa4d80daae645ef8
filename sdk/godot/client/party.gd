# Players who search together. It is followed until the player leaves.

const Connection = preload("res://addons/matchmaker/client/connection.gd")
const Follow = preload("res://addons/matchmaker/client/follow.gd")
const Search = preload("res://addons/matchmaker/client/search.gd")

# How the party is; the search of all, when the leader has begun one; the end for the player, with left, kicked, disbanded,
# silent or gone, and a problem or null; and a request of the player that failed.
signal updated(state)
signal searching(search)
signal left(reason, problem)
signal failed(problem)

# The party as it is known: id, code, leader, members, revision, …
var state
# The last search, null if there was none since the members are these.
var search = null

var _c
var _life = {"on": true}
var _ticket = ""
var _leaving = false
var _leave_reason = ""
var _pollers = []
var _heard = false

func _init(c, of):
	_c = c
	state = of
	c.add(self)
	c.add(Follow.new(c, self, _life))

func leads():
	return state.leader == _c.player

# Says anew what the player carries: attributes, values and ready, as in create_party.
func update(carried):
	_change("PUT", "/members/" + _c.segment(_c.player), carried)

# The leader searches a match for all, when all are ready: queues, attributes, as in search.
func start(carried):
	_change("PUT", "/search", carried)

# The leader ends the search.
func stop_search():
	_change("DELETE", "/search", null)

func promote(player):
	_change("PUT", "/leader", {"player": player})

func kick(player):
	_change("DELETE", "/members/" + _c.segment(player), null)

func renew_code():
	_change("POST", "/code", null)

func leave():
	_go("/members/" + _c.segment(_c.player), "left")

func disband():
	_go("", "disbanded")

# The client's own from here on.

func stop():
	pass

func step():
	if not _heard:
		_heard = true
		emit_signal("updated", state)
		if _searched():
			emit_signal("searching", search)
	return true

func events(last):
	return _request("GET", "/events", {"headers": {"Last-Event-ID": last} if last != "" else {}})

func poll(prefer, done):
	_pollers.append(done)
	var headers = {"If-None-Match": "\"" + str(int(state.revision)) + "\"", "Prefer": prefer}
	var sending = _c.send(_request("GET", "", {"headers": headers}), [self, "_polled"])
	sending.life = _life
	sending.unchanged = true

func _polled(told, problem):
	var done = _pollers.pop_front()
	if problem != null and not problem.is_missing():
		done[0].call(done[1], false, problem)
		return
	if problem == null:
		_see(told)
	elif not _leaving:
		_end("gone", null)
	done[0].call(done[1], not _life.on, null)

func take(kind, told):
	if kind == "party":
		_see(told)
	elif kind == "ended":
		_end(str(told.get("reason", "gone")), null)
	return not _life.on

func lost(problem):
	_end("gone", problem)

func _request(method, below, more):
	return Connection.request(method, "v1/parties/" + _c.segment(str(state.id)) + below, more)

# Sends a request that is answered with the party.
func _change(method, below, body):
	_c.send(_request(method, below, {} if body == null else {"body": body}), [self, "_changed"])

func _changed(told, problem):
	if problem == null:
		_see(told)
	else:
		emit_signal("failed", problem)

func _go(below, reason):
	_leaving = true
	_leave_reason = reason
	_c.send(_request("DELETE", below, {}), [self, "_gone"])

func _gone(_told, problem):
	_leaving = false
	if problem == null or problem.is_missing():
		_end(_leave_reason, null)
	else:
		emit_signal("failed", problem)

# Learns how the party is. What is older than what is known is left out.
func _see(told):
	if not _life.on or typeof(told) != TYPE_DICTIONARY or not told.has("revision"):
		return
	var known = state.revision
	if told.revision < known:
		return
	state = told
	var begun = _searched() # so that the game does not begin another search when it is told of the party
	if told.revision > known:
		_heard = true
		emit_signal("updated", state)
	if begun:
		emit_signal("searching", search)

# Follows the party's search, and returns whether it is another one.
func _searched():
	var of = state.get("search")
	var now = str(of.ticket) if typeof(of) == TYPE_DICTIONARY else ""
	if now == _ticket:
		return false
	_ticket = now
	search = null
	if now == "":
		return false
	_c.save({"ticket": now})
	search = Search.new(_c, Search.HOUR)
	search.created(now, null)
	return true

func _end(reason, problem):
	if not _life.on:
		return
	_life.on = false
	emit_signal("left", reason, problem)
