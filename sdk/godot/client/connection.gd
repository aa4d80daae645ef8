# The requests of one player's Matchmaker, and what is under way.

const Platform = preload("res://addons/matchmaker/engine.gd")
const Tokens = preload("res://addons/matchmaker/client/tokens.gd")
const Sending = preload("res://addons/matchmaker/client/sending.gd")

# When so much more time passed than the steady clock shows, the device slept.
const SLEPT = 60000.0

# The clock of the system. A game's tests may bring others.
class SystemClock:
	func wall():
		return Platform.wall()
	func steady():
		return Platform.steady()

# Makes connections. A game's tests bring the service in memory.
class Network:
	var _names = {}
	# Whether the name of the host is looked up.
	func knows(host):
		if not _names.has(host):
			_names[host] = Platform.look_up(host)
		return _names[host] == null or _names[host].is_over()
	func open(host, port, tls):
		if _names[host] != null and _names[host].address == "":
			_names.erase(host) # it has none, as yet
			return null
		var http = HTTPClient.new()
		return http if Platform.connect_to(http, host, port, tls) == OK else null

var network = Network.new()
var host = ""
var port = 80
var tls = false
# The path of the project's API.
var base = ""
var player = ""
var clock
var tokens
var suspended = false
# Changes when the app goes to the background, comes back, or the device slept.
var epoch = 0
# A file that keeps a search over a crash; empty: nothing is kept.
var storage = ""
# What is wrong with the address or the project; empty if nothing is.
var wrong = ""

var _jobs = []
var _pumping = false
var _ahead = 0.0

func _init(url, project, ask, of_clock):
	clock = of_clock if of_clock != null else SystemClock.new()
	tokens = Tokens.new(clock, ask)
	var at = address(url)
	host = at.host
	port = at.port
	tls = at.tls
	if not tls and not url.begins_with("http://") or url.find("@") >= 0 or url.find("?") >= 0 or url.find("#") >= 0:
		wrong = "url must be like https://matchmaker.example"
	if project == "" or project == "." or project == "..":
		wrong = "project is missing"
	base = at.path + "/" + Platform.escaped(project) + "/matchmaking/api/"
	_ahead = clock.wall() - clock.steady()
	Platform.seed_random()

# What a URL is made of.
static func address(url):
	var at = {"tls": url.begins_with("https://")}
	var rest = url.substr(url.find("://") + 3, url.length())
	var slash = rest.find("/")
	at["path"] = "" if slash < 0 else rest.substr(slash, rest.length())
	while at.path.ends_with("/"):
		at.path = at.path.substr(0, at.path.length() - 1)
	at["host"] = rest if slash < 0 else rest.substr(0, slash)
	at["port"] = 443 if at.tls else 80
	var parts = at.host.split(":")
	if parts.size() == 2:
		at.host = parts[0]
		at.port = int(parts[1])
	return at

# Before repetition number n.
func backoff(n):
	return (pow(2, n) + n * (2 * randf() - 1)) * 1000

func add(job):
	_jobs.append(job)

# Whatever is awaited is asked for anew, at once.
func wake():
	epoch += 1

func pump():
	if _pumping:
		return # a callback called it
	_pumping = true
	var now = clock.wall() - clock.steady()
	if now - _ahead > SLEPT:
		wake()
	_ahead = now
	var i = 0
	while i < _jobs.size():
		var job = _jobs[i]
		if job.step():
			_jobs.erase(job) # it may add others, and end all
		else:
			i += 1
	_pumping = false

func close():
	for job in _jobs:
		job.stop()
	_jobs.clear()

# Sends a request. `done`, an object and its method, gets the answer and the problem.
func send(request, done):
	var sending = Sending.new(self, request, done)
	add(sending)
	return sending

# Sends it until it is answered with an object.
func ask(request, done):
	var sending = send(request, done)
	sending.object = true
	return sending

# A value as one element of a path.
static func segment(value):
	return Platform.escaped(value)

# Learns who the player is, from the token. `done` gets the problem, or null.
func who_is(done):
	tokens.want()
	add(Who.new(self, done))

class Who:
	var _c
	var _done
	func _init(c, done):
		_c = c
		_done = done
	func stop():
		pass
	func step():
		_c.tokens.settle()
		if _c.tokens.asking:
			return false
		if _c.tokens.failure == null and _c.player == "":
			_c.player = str(_c.tokens.claims().get("sub", ""))
		_done[0].call(_done[1], _c.tokens.failure)
		return true

# Keeps the ticket, or before there is one the Idempotency-Key of its create. Nothing: there is nothing to go on with.
func save(kept):
	if storage != "":
		Platform.save_text(storage, "" if kept.size() == 0 else Platform.json(kept))

# Saves what follows from what was kept, unless another search has saved something since.
func replace(from, to):
	var now = kept()
	if now.get("ticket") == from.get("ticket") and now.get("key") == from.get("key"):
		save(to)

func kept():
	var told = Platform.parse(Platform.load_text(storage)) if storage != "" else null
	return told if typeof(told) == TYPE_DICTIONARY else {}

# A request of the API; `more` has its query, headers and body, and whether it may be sent twice.
static func request(method, path, more):
	var of = {
		"method": method, "path": path, "query": more.get("query", {}), "headers": more.get("headers", {}),
		"repeatable": more.get("repeatable", true),
	}
	if more.has("body"):
		of["body"] = more.body
	return of
