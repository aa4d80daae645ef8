# A search for a match. It goes on if the game lets go of it.
#
# An update is a Dictionary: `state` is starting, searching (with estimate, unserved_queues), offered (with match, deadline
# of the wall clock, players, accepted, answered), preparing, matched (with connection, seat, properties,
# match_properties), cancelled, or failed (with problem). It has the ticket, too.

const Connection = preload("res://addons/matchmaker/client/connection.gd")
const Follow = preload("res://addons/matchmaker/client/follow.gd")
const Problem = preload("res://addons/matchmaker/client/problem.gd")

const HOUR = 3600000.0

# Each time that something changes; the last one; and what became of a cancel: whether it was cancelled, and else a problem,
# or null where it was too late and there is a match.
signal updated(update)
signal ended(update)
signal cancel_answered(cancelled, problem)

var current = {"state": "starting", "ticket": ""}

var _c
var _life = {"on": true}
var _tries = {"on": true}
var _until
var _id = ""
var _create_problem = null
var _known = false # there is a ticket, or there is none
var _said = ""
var _cancelling = false
var _deleting = false
var _late = false
var _over = false
var _pollers = []
var _refusal = null

func _init(c, timeout):
	_c = c
	_until = c.clock.steady() + timeout
	c.add(self)

# Ends the search, unless it is too late: then there is the match.
func cancel():
	_tries.on = false
	if _cancelling:
		return
	_cancelling = true
	_deleting = false
	if _over:
		_over = false
		_c.add(self)

# Answer the match that was offered last.
func accept():
	_answer(true)

func decline():
	_answer(false)

# Ends the following. The ticket waits on.
func abandon():
	_life.on = false

# A request for the ticket: with a new seat pass in its assignment, and with an estimate. `done` is an object and its
# method, which gets the answer and the problem.
func read(done, estimate = false, prefer = "", life = null):
	var more = {"query": {"id": _id}, "headers": {}}
	if estimate:
		more.query["estimate"] = "true"
	if prefer != "":
		more.headers["Prefer"] = prefer
	var sending = _c.ask(Connection.request("GET", "v1/tickets", more), done)
	if life != null:
		sending.life = life

func has_ended():
	return current.state in ["matched", "cancelled", "failed"]

# The client's own from here on.

func life():
	return _life

func tries():
	return _tries

func created(ticket, problem):
	_known = true
	_id = ticket
	_create_problem = problem
	if has_ended() or not _life.on:
		return
	if problem == null:
		_c.add(Follow.new(_c, self, _life))
	elif _cancelling and not problem.unanswered:
		_end_cancelled()
	else:
		_fail(problem)

func stop():
	pass

func step():
	if not _life.on and not _known:
		var e = Problem.new("cancelled", "the following was ended")
		e.unanswered = true
		created("", e)
	if not has_ended() and _life.on and not _late and _c.clock.steady() > _until:
		_late = true
		cancel()
	if _cancelling and _known and not _deleting:
		_remove()
	_over = not (not has_ended() and _life.on or _cancelling)
	return _over

func events(last):
	var more = {"query": {"id": _id}, "headers": {}}
	if last != "":
		more.headers["Last-Event-ID"] = last
	return Connection.request("GET", "v1/tickets/events", more)

func poll(prefer, done):
	_pollers.append(done)
	read([self, "_polled"], false, prefer, _life)

func _polled(told, problem):
	var done = _pollers.pop_front()
	if problem != null and not problem.is_missing():
		done[0].call(done[1], false, problem)
	else:
		done[0].call(done[1], take("ended", {}) if problem != null else take("", told), null)

func lost(problem):
	_fail(problem)

# Takes an event of the stream, or how the ticket is, and returns whether the search has ended.
func take(kind, told):
	if has_ended():
		return true
	if typeof(told.get("assignment")) == TYPE_DICTIONARY:
		_assigned(told.assignment)
	elif kind == "ended":
		var reason = str(told.get("reason", "gone"))
		if _cancelling:
			_end_cancelled()
		else:
			var e = Problem.new("ended", "the ticket ended: " + reason)
			e.reason = reason
			_fail(e)
	elif typeof(told.get("acceptance")) == TYPE_DICTIONARY:
		_offered(told.acceptance)
	elif kind == "matched":
		_tell(kind, _next("preparing"))
	elif kind == "waiting" or kind == "":
		_waits(told) # else it is an event of a later version
	return has_ended()

func _remove():
	_deleting = true
	if _create_problem != null or has_ended():
		# Without an answer there may be a ticket.
		_cancel_ends(_create_problem if _create_problem != null and _create_problem.unanswered else null)
		return
	var more = {"query": {"id": _id, "unlessAssigned": "true"}}
	_c.send(Connection.request("DELETE", "v1/tickets", more), [self, "_removed"])

func _removed(_told, problem):
	if problem == null or has_ended():
		_cancel_ends(null)
	elif not problem.is_missing() and problem.status != 409:
		_cancel_ends(problem)
	else:
		_refusal = problem
		read([self, "_looked"])

func _looked(told, problem):
	if problem != null and not problem.is_missing():
		_cancel_ends(problem)
		return
	var over = take("ended", {}) if problem != null else take("", told)
	_cancel_ends(null if over else _refusal)

func _cancel_ends(problem):
	if problem == null:
		_end_cancelled()
	elif _late:
		_fail(problem)
	_cancelling = false
	emit_signal("cancel_answered", problem == null and current.state == "cancelled", problem)

func _answer(accept):
	# Where no match asks, the service says so.
	var more = {"query": {"id": _id}, "body": {"match": current.get("match", ""), "accept": accept}}
	_c.send(Connection.request("POST", "v1/tickets/acceptance", more), [self, "_answered"])

func _answered(_told, _problem):
	pass

func _next(state):
	return {"state": state, "ticket": _id}

func _waits(told):
	var u = _next("searching")
	u["unserved_queues"] = told.get("unservedQueues", [])
	var estimate = told.get("estimate")
	u["estimate"] = estimate if typeof(estimate) == TYPE_DICTIONARY else current.get("estimate")
	_tell("waiting " + str(u.unserved_queues) + ("" if u.estimate == null else " estimated"), u)

func _offered(asked):
	var accepted = int(asked.get("accepted", 0))
	if current.state == "offered" and current.match == asked.get("match") and current.accepted > accepted:
		return # old
	var u = _next("offered")
	u["match"] = asked.get("match", "")
	u["deadline"] = _c.clock.wall() + asked.get("remaining", 0)
	u["players"] = int(asked.get("players", 0))
	u["accepted"] = accepted
	u["answered"] = _c.player != "" and not _c.player in asked.get("unanswered", [_c.player])
	_tell("offered " + str(u.match) + " " + str(accepted), u)

func _assigned(a):
	if a.get("error", "") != "":
		var e = Problem.new("failed", "the match failed: " + str(a.error))
		e.detail = str(a.error)
		_fail(e)
		return
	var u = _next("matched")
	u["connection"] = a.get("connection", "")
	u["seat"] = seat_of(a)
	u["properties"] = a.get("properties", {})
	u["match_properties"] = a.get("matchproperties", {})
	_end(u)

# The player's seat pass in an assignment; null if there is none.
func seat_of(a):
	var seats = a.get("seats")
	if typeof(seats) != TYPE_DICTIONARY or seats.size() == 0:
		return null
	return seats[_c.player] if seats.has(_c.player) else seats.values()[0]

# Tells an update that is not told yet.
func _tell(what, u):
	if what == _said:
		return
	_said = what
	current = u
	emit_signal("updated", u)

func _end_cancelled():
	if _late:
		_fail(Problem.new("timeout", "the search took too long"))
	if has_ended():
		return
	_c.replace({"ticket": _id}, {})
	_end(_next("cancelled"))

func _fail(problem):
	if has_ended():
		return
	var u = _next("failed")
	u["problem"] = problem
	if problem.code in ["ended", "failed", "timeout"]:
		_c.replace({"ticket": _id}, {})
	_end(u)

func _end(u):
	if has_ended():
		return
	_life.on = false
	_tries.on = false
	current = u
	emit_signal("updated", u)
	emit_signal("ended", u)
