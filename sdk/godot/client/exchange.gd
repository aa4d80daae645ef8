# One try of a request.

const Platform = preload("res://addons/matchmaker/engine.gd")
const Problem = preload("res://addons/matchmaker/client/problem.gd")

const MAX_ANSWER = 8388608
const MAX_EVENT = 1048576
# In milliseconds: how long all of an answer may take, a stream's excepted.
const WHOLE = 300000.0

# waiting, token, flying; and its ends: answered, offline, late (nothing came for too long), interrupted (the app went to
# the background), no_token, too_large
var state = "waiting"
var status = 0
# Something of the body came.
var heard = false

var _c
var _request
var _stream
var _first
var _next
var _limit = 0.0
var _end = 0.0
var _epoch = 0
var _http = null
var _sent = false
var _token = ""
var _headers = {}
var _body = Platform.bytes()

# The first bytes of the body must come in first, each other ones in next.
func _init(c, request, stream, first, next):
	_c = c
	_request = request
	_stream = stream
	_first = first
	_next = next

func over():
	return not state in ["waiting", "token", "flying"]

# It is an open stream of events.
func streams():
	return _stream and status == 200 and header("content-type").begins_with("text/event-stream")

func header(named):
	return _headers.get(named, "")

func end(how):
	state = how
	if _http != null:
		_http.close()
	_http = null

func step():
	if over():
		return
	if state == "waiting":
		if _c.suspended:
			return
		_epoch = _c.epoch
		_limit = _c.clock.steady() + _first
		_end = 1e300 if _stream else _c.clock.steady() + WHOLE
		if not renews():
			_c.tokens.want()
		state = "token"
	if _request.repeatable and _epoch != _c.epoch:
		end("interrupted")
	elif _c.clock.steady() > _limit:
		end("late")
	elif state == "token":
		_c.tokens.settle()
		if _c.tokens.failure != null and not renews():
			end("no_token")
		elif _c.network.knows(_c.host) and (renews() or not _c.tokens.asking):
			_begin()
	if state == "flying":
		_fly()

# It gets a game server's next token with the last one: who is asked for the token may send it.
func renews():
	return _request.path == "v1/servers/token" and _c.tokens.token != ""

func _begin():
	_token = _c.tokens.token
	_http = _c.network.open(_c.host, _c.port, _c.tls)
	state = "flying"
	if _http == null:
		end("offline")

func _send():
	_sent = true
	var kinds = "text/event-stream" if _stream else "application/json"
	var headers = ["Accept: " + kinds + ", application/problem+json", "Authorization: Bearer " + _token]
	for name in _request.headers:
		headers.append(name + ": " + _request.headers[name])
	var body = ""
	if _request.has("body"):
		headers.append("Content-Type: application/json")
		body = Platform.json(_request.body)
	var separator = "?"
	var path = _c.base + _request.path
	for name in _request.query:
		path += separator + name + "=" + Platform.escaped(str(_request.query[name]))
		separator = "&"
	var methods = {
		"GET": HTTPClient.METHOD_GET, "POST": HTTPClient.METHOD_POST, "PUT": HTTPClient.METHOD_PUT,
		"DELETE": HTTPClient.METHOD_DELETE,
	}
	if _http.request(methods[_request.method], path, headers, body) != OK:
		end("offline")

func _fly():
	for _round in range(64): # what has come, in parts
		_http.poll()
		match _http.get_status():
			HTTPClient.STATUS_CONNECTED:
				if not _sent:
					_send()
				else:
					_head()
					end("answered" if status != 0 else "offline")
			HTTPClient.STATUS_BODY:
				_head()
				if not _more():
					return
			HTTPClient.STATUS_RESOLVING, HTTPClient.STATUS_CONNECTING, HTTPClient.STATUS_REQUESTING:
				return
			_:
				# An answer without a length ends with its connection.
				var whole = _headers.size() > 0 and not _headers.has("content-length") \
					and not _headers.has("transfer-encoding")
				end("answered" if whole else "offline")
		if over():
			return

func _head():
	if status != 0 or not _http.has_response():
		return
	status = _http.get_response_code()
	for line in _http.get_response_headers():
		var colon = line.find(":")
		_headers[line.substr(0, colon).to_lower()] = line.substr(colon + 1, line.length()).strip_edges()
	if status == 401:
		_c.tokens.refuse(_token)
	if _stream and not streams():
		_end = _c.clock.steady() + WHOLE
	if status == 204 or status == 304:
		end("answered")

# Reads a part of the body, and returns whether there may be another one.
func _more():
	if over():
		return false
	var part = _http.read_response_body_chunk()
	var whole = _http.get_status() == HTTPClient.STATUS_CONNECTED # a poll would tell of a connection that is closed
	if part.size() > 0:
		heard = true
		_limit = _c.clock.steady() + _next
		if _limit > _end: # min() has 24 bits
			_limit = _end
		_body.append_array(part)
	if _body.size() > MAX_ANSWER:
		end("too_large")
	elif whole:
		end("answered")
	return part.size() > 0 or _http != null and _http.get_status() != HTTPClient.STATUS_BODY

# What came and was not taken, up to the last whole line.
func lines():
	var n = _body.size()
	while n > 0 and _body[n - 1] != 10:
		n -= 1
	if n == 0:
		if _body.size() > MAX_EVENT:
			end("too_large")
		return ""
	var taken = Platform.part(_body, 0, n)
	_body = Platform.part(_body, n, _body.size())
	return taken.get_string_from_utf8()

func text():
	return _body.get_string_from_utf8()

# The answer as JSON; null if it is none.
func answer():
	var kind = header("content-type").split(";")[0]
	if kind != "application/json" and not (kind.begins_with("application/") and kind.ends_with("+json")):
		return null
	return Platform.parse(text())

# What went wrong; null if the answer is a success.
func failure():
	var what = _request.method + " /" + _request.path + ": " # no query, which may name players
	match state:
		"no_token":
			return _c.tokens.failure
		"too_large":
			return Problem.new("unexpected", what + "the answer is too large")
		"late":
			return Problem.new("offline", what + "nothing came for too long")
		"offline":
			return Problem.new("offline", what + "the connection broke")
	if status >= 200 and status <= 299 and not _stream:
		return null
	var told = answer()
	if typeof(told) != TYPE_DICTIONARY:
		told = {}
	var e = Problem.new(_code(), what + str(status) + " " + str(told.get("detail", "")))
	e.status = status
	e.detail = str(told.get("detail", ""))
	e.problem = str(told.get("code", ""))
	e.retry_after = _retry_after(header("retry-after"), header("date"), _c.clock.wall())
	return e

func _code():
	match status:
		401:
			return "token"
		403:
			return "forbidden"
		404:
			return "not_found"
		409, 412:
			return "conflict"
		429, 502, 503, 504:
			return "busy"
	return "invalid" if status >= 400 and status < 500 else "unexpected"

# In milliseconds: seconds, or a date that counts from the answer's own; -1 if there is none.
func _retry_after(value, answered, now):
	var ms = -1.0
	if Platform.is_whole(value) and value.length() < 10:
		ms = value.to_float() * 1000
	elif _date(value) > 0:
		ms = _date(value) - (_date(answered) if _date(answered) > 0 else now)
	return ms if ms > 0 else -1.0

# A date such as Sun, 06 Nov 1994 08:49:37 GMT in milliseconds since 1970; 0 if it is none.
func _date(text):
	var parts = text.split(" ")
	if parts.size() != 6 or parts[5] != "GMT":
		return 0.0
	var months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	var clock = parts[4].split(":")
	if clock.size() != 3 or parts[2].length() != 3 or months.find(parts[2]) % 3 != 0:
		return 0.0
	return Platform.unix({
		"year": int(parts[3]), "month": months.find(parts[2]) / 3 + 1, "day": int(parts[1]),
		"hour": int(clock[0]), "minute": int(clock[1]), "second": int(clock[2]),
	}) * 1000.0
