# Keeps the player's token, and replaces it before it ends, when two thirds of its life have passed since it came.

const Platform = preload("res://addons/matchmaker/engine.gd")
const Problem = preload("res://addons/matchmaker/client/problem.gd")

const PATIENCE = 30000.0
const FOREVER = 1e300

var token = ""
# Why the last try failed; null if it did not.
var failure = null
var asking = false

var _clock
var _ask # is asked for a token: an object and its method
var _due = 0.0
var _ends = 0.0
var _refused = false
var _why = ""
var _until = 0.0

func _init(clock, ask):
	_clock = clock
	_ask = ask

# Begins to get a token if there is none that is good as far as is known.
func want():
	settle()
	if asking:
		return
	failure = null
	if token != "" and not _refused and _clock.wall() < _due:
		return
	_why = "first" if token == "" else "refused" if _refused else "expiring"
	asking = true
	_until = _clock.steady() + PATIENCE
	_ask[0].call(_ask[1], _why)

func settle():
	if asking and _clock.steady() > _until:
		answer("", "its source takes too long")

func answer(new_token, reason):
	if not asking:
		return
	asking = false
	new_token = new_token.strip_edges()
	if not printable(new_token):
		new_token = ""
		reason = "no header can have it"
	if new_token != "":
		_keep(new_token)
		return
	var now = _clock.wall()
	if _why == "expiring" and now < _ends:
		_due = now + (_ends - now) / 3 # good still; not again at each request
	else:
		failure = Problem.new("token", "no token: " + (reason if reason != "" else "it is empty"))

# A header can have the text, which is ASCII.
static func printable(text):
	for byte in Platform.utf8(text):
		if byte < 32 or byte > 126:
			return false
	return true

func refuse(of_token):
	_refused = _refused or of_token == token

# The service says that the token has ended, or soon does.
func expire():
	_due = 0.0

func _keep(new_token):
	token = new_token
	_refused = false
	_due = FOREVER
	_ends = FOREVER
	var of_token = claims()
	if not of_token.has("exp"):
		return
	# Its own times say how long it lives: clocks of different hosts are not compared.
	var now = _clock.wall()
	var life = (of_token["exp"] - of_token.get("iat", now / 1000)) * 1000.0
	if life > 0:
		_due = now + life * 2 / 3
		_ends = now + life

# The claims of a JSON Web Token, without verifying it: that is the service's affair.
func claims():
	var parts = token.split(".")
	if parts.size() < 2:
		return {}
	var text = parts[1].replace("-", "+").replace("_", "/")
	while text.length() % 4 != 0:
		text += "="
	var of_token = Platform.parse(Marshalls.base64_to_utf8(text))
	return of_token if typeof(of_token) == TYPE_DICTIONARY else {}
