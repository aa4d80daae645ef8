# Tells of something until it ends, over connections that come and go: by a stream, or by held requests.

const Platform = preload("res://addons/matchmaker/engine.gd")
const Exchange = preload("res://addons/matchmaker/client/exchange.gd")
const Problem = preload("res://addons/matchmaker/client/problem.gd")
const Tokens = preload("res://addons/matchmaker/client/tokens.gd")

# A stream whose first byte does not come is kept back by a proxy. One that was silent for so long is broken: the service
# sends something every 15 seconds. Clients come back after about RETRY.
const FIRST = 10000.0
const SILENCE = 50000.0
const RETRY = 3000.0
const MAX_RETRY = 120000.0
const MAX_TRIES = 5
# A held request is answered after 10 s at the latest. A service that does not hold requests is asked after SOON, then
# twice as long each time up to LATE.
const HOLD = "wait=10"
const SOON = 500.0
const LATE = 5000.0

var _c
# Has events(last) and poll(prefer), take(kind, data), which returns whether it has ended, and lost(problem).
var _of
var _life
var _state = "opening"
var _exchange
var _last = ""
var _text = ""
var _retry = RETRY
var _failures = 0
var _silent = 0
var _refused = false
var _polls = false
var _until = 0.0
var _epoch = 0
var _interval = SOON
var _asked = 0.0
var _polled = false

func _init(c, of, life):
	_c = c
	_of = of
	_life = life
	_open()

func stop():
	_exchange.end(_exchange.state)

func step():
	while _life.on:
		match _state:
			"opening":
				_exchange.step()
				if _exchange.streams():
					_state = "reading"
					_failures = 0
					_refused = false
					_text = ""
				elif not _exchange.over():
					return false
				else:
					_not_opened()
			"reading":
				if not _read() and _life.on:
					return false
			"sleeping":
				if _c.clock.steady() < _until and _epoch == _c.epoch:
					return false
				if _polls:
					_poll()
				else:
					_open()
			"polling":
				if not _polled:
					return false
				_rest()
	stop()
	return true

# What was polled for is there: whether it has ended, and a problem or null.
func polled(ended, problem):
	_polled = true
	if problem != null:
		_of.lost(problem)
	if ended or problem != null:
		_life.on = false

func _open():
	if _exchange != null:
		stop()
	_retry = RETRY * (0.5 + randf())
	_exchange = Exchange.new(_c, _of.events(_last), true, FIRST, SILENCE)
	_state = "opening"

func _sleep(ms):
	stop()
	_state = "sleeping"
	_until = _c.clock.steady() + ms
	_epoch = _c.epoch

func _lost(problem):
	_of.lost(problem)
	_life.on = false

# The stream says nothing that can be used: goes on with held requests.
func _no_stream():
	_polls = true
	stop()
	_poll()

func _not_opened():
	if _exchange.state == "interrupted":
		_open()
		return
	if _exchange.state == "late":
		_no_stream()
		return
	var e = _exchange.failure()
	if e.status == 401 and not _refused:
		_refused = true
		_open() # with another token
		return
	var passes = e.code == "offline" or e.code == "busy" and e.status != 429
	if passes:
		_failures += 1
	if e.code == "token" or e.code == "forbidden" or passes and _failures > MAX_TRIES:
		_lost(e)
	elif passes:
		_sleep(min(e.retry_after if e.retry_after > 0 else _c.backoff(_failures), MAX_RETRY))
	else:
		_no_stream() # it is full, or an older service; or what is followed is gone

# Reads events, and returns whether something else begins.
func _read():
	_exchange.step()
	_text += _exchange.lines().replace("\r", "")
	var cut = false
	while not cut and _life.on:
		var end = _text.find("\n\n")
		if end < 0:
			break
		var event = _text.substr(0, end)
		_text = _text.substr(end + 2, _text.length())
		cut = _take(event)
	if _text.length() > Exchange.MAX_EVENT:
		_lost(Problem.new("unexpected", "an event of the stream is too large"))
	if not _life.on or not cut and not _exchange.over():
		return false
	if _exchange.state == "too_large":
		_lost(Problem.new("unexpected", "an event of the stream is too large"))
		return false
	var late = _exchange.state == "late"
	_silent = _silent + 1 if late and _exchange.heard else 0
	if _silent > 1 or late and not _exchange.heard:
		_no_stream()
	elif _exchange.state == "interrupted":
		_open()
	else:
		_sleep(_retry)
	return true

# Takes an event, and returns whether the stream is over, though more events will come.
func _take(event):
	var kind = ""
	var data = ""
	for line in event.split("\n"):
		var colon = line.find(":")
		if colon < 0:
			continue
		var value = line.substr(colon + 1, line.length())
		if value.begins_with(" "):
			value = value.substr(1, value.length())
		match line.substr(0, colon):
			"event":
				kind = value
			"data":
				data += ("" if data == "" else "\n") + value
			"id":
				if Tokens.printable(value):
					_last = value
			"retry":
				if Platform.is_whole(value) and value.to_float() > 0:
					_retry = min(value.to_float(), MAX_RETRY)
	var told = Platform.parse(data) if data != "" else null
	if typeof(told) != TYPE_DICTIONARY:
		return false
	if kind == "reconnect":
		if told.get("reason") == "token":
			_c.tokens.expire()
		return true
	if _of.take(kind, told):
		_life.on = false
	return false

func _poll():
	_state = "polling"
	_polled = false
	_asked = _c.clock.steady()
	_of.poll(HOLD, [self, "polled"])

# Between two polls.
func _rest():
	var held = _c.clock.steady() - _asked
	if held >= _interval:
		_interval = SOON
		_poll()
		return
	_sleep((_interval - held) * (0.8 + 0.4 * randf())) # clients that began together do not stay so
	_interval = min(2 * _interval, LATE)
