# Measures how far a region is: by UDP on a thread of its own, since frames would be measured else, or by HTTP.

const Connection = preload("res://addons/matchmaker/client/connection.gd")
const Platform = preload("res://addons/matchmaker/engine.gd")

# The datagrams of beacons; the service's documentation of latencies has them.
const MAGIC = [109, 109, 98, 1]
const QUESTION = 104
const NONCE_AT = 8
const RECEIPT_AT = 24
const GREETING = 48
const SHORTEST_GRANT = 64
const RTT_AT = 34
const MAX_ANSWER = 4096

# rtt is the median of the round trips in milliseconds, null when no probe was answered; by HTTP, which waits for frames,
# it is the shortest one. sent are the probes, lost those that were not answered in time. receipts prove the round trip to
# the service.
var found

var _c
var _of
var _probes
var _timeout
var _begun = false
var _over = false
var _wanted = true
var _thread = null
var _measured = false # the thread has
var _http = null
var _at
var _trips = []
var _left = 0
var _asked = 0 # how many questions of the probe
var _sent = false
var _path = ""
var _limit = 0.0
var _body

func _init(c, of, options):
	_c = c
	_of = of
	_probes = int(clamp(options.get("probes", 5), 1, 20))
	_timeout = clamp(options.get("timeout", 1.0), 0.001, 2.0) * 1000
	found = {"region": str(of.get("name", "")), "rtt": null, "sent": 0, "lost": 0, "receipts": []}

# Does what can be done now, and returns whether the region is measured.
func step():
	if _over:
		return true
	if not _begun:
		_begun = true
		if _of.get("protocol") in ["beacon", "playfab", "echo"] and _of.has("udp") and Platform.has_udp():
			_thread = Platform.start_thread(self, "_measure")
	if _thread != null:
		if not _measured:
			return false
		_thread.wait_to_finish()
		_thread = null
	var url = str(_of.get("url", ""))
	if _http == null and found.rtt == null and (url.begins_with("http://") or url.begins_with("https://")):
		_at = Connection.address(url)
		_http = HTTPClient.new()
		_left = _probes
	_over = _http == null or _measured_by_http()
	return _over

func stop():
	_wanted = false
	if _thread != null:
		_thread.wait_to_finish()
	_thread = null
	if _http != null:
		_http.close()

# The thread's own, before it has ended.

func _measure(_none = null):
	var at = str(_of.udp)
	var colon = at.rfind(":")
	var host = at.substr(0, colon).lstrip("[").rstrip("]")
	var port = int(at.substr(colon + 1, at.length()))
	for family in [IP.TYPE_IPV4, IP.TYPE_IPV6]:
		var address = host
		if not host.is_valid_ip_address():
			address = _address(host, family)
		elif (family == IP.TYPE_IPV6) != (host.find(":") >= 0):
			address = ""
		if address != "" and _wanted:
			_measure_address(address, port)
	_measured = true

# An address of the host, or "". A look-up that takes too long is left; Godot 3.2 holds a lock until it ends.
func _address(host, family):
	var id = IP.resolve_hostname_queue_item(host, family)
	if id == IP.RESOLVER_INVALID_ID:
		return ""
	var until = Platform.micros() + 3 * _timeout * 1000
	while _wanted and Platform.micros() < until and IP.get_resolve_item_status(id) == IP.RESOLVER_STATUS_WAITING:
		OS.delay_usec(1000)
	var is_found = IP.get_resolve_item_status(id) == IP.RESOLVER_STATUS_DONE
	var address = IP.get_resolve_item_address(id) if is_found else ""
	IP.erase_resolve_item(id)
	return address

func _measure_address(address, port):
	var socket = PacketPeerUDP.new()
	if socket.connect_to_host(address, port) != OK:
		return
	var trips = []
	for _i in range(_probes):
		if not _wanted:
			break
		found.sent += 1
		var until = Platform.micros() + _timeout * 1000
		var trip = _beacon(socket, until) if _of.protocol == "beacon" else _echo(socket, until)
		if trip == null:
			found.lost += 1
		else:
			trips.append(trip)
	socket.close()
	_add(trips, (trips.size() - 1) / 2)

# The two questions of a beacon. The round trip is what the beacon measured.
func _beacon(socket, until):
	var question = Platform.bytes()
	for byte in MAGIC + [1, 0, 0, 0]:
		question.append(byte)
	question.append_array(Crypto.new().generate_random_bytes(RECEIPT_AT - NONCE_AT))
	while question.size() < QUESTION:
		question.append(0)
	var greeting = _ask(socket, question, until, GREETING)
	if greeting == null:
		return null
	question[4] = 3
	for i in range(RECEIPT_AT, GREETING):
		question[i] = greeting[i]
	var grant = _ask(socket, question, until, SHORTEST_GRANT)
	if grant == null:
		return null
	var microseconds = 0
	for i in range(RTT_AT, RTT_AT + 4):
		microseconds = microseconds * 256 + grant[i]
	var receipt = Marshalls.raw_to_base64(Platform.part(grant, RECEIPT_AT, grant.size()))
	return [microseconds / 1000.0, receipt.replace("+", "-").replace("/", "_").replace("=", "")]

# PlayFab's beacons answer with the first two bytes 0, others with what they were asked.
func _echo(socket, until):
	var question = Platform.bytes()
	for _i in range(2):
		question.append(255 if _of.protocol == "playfab" else 0)
	question.append_array(Crypto.new().generate_random_bytes(32))
	var start = Platform.micros()
	if _ask(socket, question, until, question.size()) == null:
		return null
	return [(Platform.micros() - start) / 1000.0, ""]

# Sends a question and returns the answer that belongs to it; null if none came.
func _ask(socket, question, until, shortest):
	socket.put_packet(question)
	while _wanted and Platform.micros() < until:
		var n = socket.get_available_packet_count()
		if n < 0:
			return null
		if n == 0:
			OS.delay_usec(200)
			continue
		var answer = socket.get_packet()
		if answer.size() >= shortest and answer.size() <= question.size() and _belongs(answer, question):
			return answer
	return null

# Others are late, or forged.
func _belongs(answer, question):
	var beacon = _of.protocol == "beacon"
	for i in range(NONCE_AT if beacon else 2, RECEIPT_AT if beacon else question.size()):
		if answer[i] != question[i]:
			return false
	if not beacon:
		return answer[0] == 0 and answer[1] == 0
	for i in range(MAGIC.size()):
		if answer[i] != MAGIC[i]:
			return false
	return answer[4] == question[4] + 1

# Adds the trip that counts: the n-th shortest one.
func _add(trips, n):
	var times = []
	for trip in trips:
		times.append(trip[0])
	times.sort()
	for trip in trips:
		if trip[0] != times[n]:
			continue
		found.rtt = trip[0] if found.rtt == null else min(found.rtt, trip[0])
		if trip[1] != "":
			found.receipts.append(trip[1])
		return

# By HTTP: two questions on one connection for a round trip. The beacon gets no token.

func _measured_by_http():
	while true:
		if _asked == 0:
			if _left == 0:
				_http.close()
				_add(_trips, 0)
				return true
			_left -= 1
			found.sent += 1
			_limit = _c.clock.steady() + 3 * _timeout # the connection is made before the beacon takes the time
			_question("")
		var told = _answer()
		if told == null:
			if _c.clock.steady() <= _limit:
				return false
			_http.close()
			told = {}
		if _asked == 1 and typeof(told.get("echo")) == TYPE_STRING:
			_question("?echo=" + Platform.escaped(told.echo))
			continue
		if _asked == 2 and typeof(told.get("receipt")) == TYPE_STRING and typeof(told.get("rtt")) == typeof(0.5):
			_trips.append([told.rtt, told.receipt])
		else:
			found.lost += 1
		_asked = 0
	return true

func _question(query):
	_asked += 1
	_sent = false
	_path = _at.path + "/probe" + query
	_body = Platform.bytes()
	_http.poll()
	if _http.get_status() != HTTPClient.STATUS_CONNECTED:
		_http.close()
		Platform.connect_to(_http, _at.host, _at.port, _at.tls)

# The answer, an empty one if it is none, and null as long as there is none.
func _answer():
	_http.poll()
	match _http.get_status():
		HTTPClient.STATUS_RESOLVING, HTTPClient.STATUS_CONNECTING, HTTPClient.STATUS_REQUESTING:
			return null
		HTTPClient.STATUS_CONNECTED:
			if _sent:
				return _parsed()
			_sent = true
			return null if _http.request(HTTPClient.METHOD_GET, _path, [], "") == OK else {}
		HTTPClient.STATUS_BODY:
			while _http.get_status() == HTTPClient.STATUS_BODY:
				var part = _http.read_response_body_chunk()
				_body.append_array(part)
				if _body.size() > MAX_ANSWER:
					_http.close()
					return {}
				if part.size() == 0:
					return null
			return _parsed()
	return {}

func _parsed():
	var told = Platform.parse(_body.get_string_from_utf8()) if _http.get_response_code() == 200 else null
	return told if typeof(told) == TYPE_DICTIONARY else {}
