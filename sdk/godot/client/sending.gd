# Sends a request until it is answered. `done` is an object and its method, which gets the answer and the problem.

const Exchange = preload("res://addons/matchmaker/client/exchange.gd")
const Problem = preload("res://addons/matchmaker/client/problem.gd")

const STALL = 60000.0
const MAX_TRIES = 5
const MAX_WAIT = 60000.0

# Whether it is wanted still; whether it is tried again.
var life = {"on": true}
var tries = {"on": true}
# 304 is an answer; an answer must be an object.
var unchanged = false
var object = false

var _c
var _request
var _done
var _exchange
var _problem = null
var _count = 0
var _lost = false
var _refused = false
var _waits = false
var _until = 0.0
var _epoch = 0

func _init(c, request, done):
	_c = c
	_request = request
	_done = done
	_begin()

func stop():
	_exchange.end(_exchange.state)

func _begin():
	_exchange = Exchange.new(_c, _request, false, STALL, STALL)

# Does what can be done now, and returns whether all is done.
func step():
	while life.on:
		if _waits:
			if tries.on and _c.clock.steady() < _until and _epoch == _c.epoch:
				return false
			_waits = false
			if not tries.on:
				return _end(null, _problem)
			_begin()
		_exchange.step()
		if not _exchange.over():
			return false
		if _exchange.state == "interrupted":
			_lost = true
			_begin()
			continue
		if unchanged and _exchange.status == 304:
			return _end(null, null)
		_problem = _exchange.failure()
		if _problem == null:
			return _answered()
		if _problem.is_missing() and _lost and _request.method == "DELETE":
			return _end(null, null) # deleted before
		_lost = _lost or _problem.code == "offline" or _problem.status >= 500
		_problem.unanswered = _lost
		if _problem.status == 401 and not _refused and not _exchange.renews():
			_refused = true
			_begin() # with another token
			continue
		var wait = _problem.retry_after if _problem.retry_after > 0 else _c.backoff(_count + 1)
		var passes = _problem.code == "busy" or _problem.code == "offline"
		var again = _problem.status == 429 or _request.repeatable and passes
		_count += 1
		if not again or _count > MAX_TRIES or wait > MAX_WAIT:
			return _end(null, _problem)
		_waits = true
		_until = _c.clock.steady() + wait
		_epoch = _c.epoch
	stop()
	return true

func _answered():
	var told = _exchange.answer()
	if typeof(told) == TYPE_DICTIONARY:
		return _end(told, null)
	if _exchange.text() == "" and not object:
		return _end(null, null)
	var e = Problem.new("unexpected", _request.method + " /" + _request.path + ": the answer is not the service's")
	e.unanswered = _lost
	return _end(null, e)

func _end(answer, problem):
	stop()
	_done[0].call(_done[1], answer, problem)
	return true
