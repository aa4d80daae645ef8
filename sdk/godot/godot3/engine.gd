# What differs between versions of Godot: this file is Godot 3's. There, float() has 24 bits, and so no place in the client.

# A value takes about a hundred bytes, however short its text is.
const MAX_VALUES = 262144

static func parse(text):
	if text == "" or _is_too_much(text):
		return null
	var result = JSON.parse(text)
	return result.result if result.error == OK else null

# Before each value but the first there is a mark; a text that is not long has room for few.
static func _is_too_much(text):
	var marks = 0
	if text.length() > MAX_VALUES:
		for mark in [",", "[", "{"]:
			marks += text.split(mark, true, MAX_VALUES).size() - 1
	if marks >= MAX_VALUES:
		return true
	# Godot's parser follows lists in lists until its stack is full.
	if text.split("[", true, 65).size() + text.split("{", true, 65).size() <= 66: # 64 are opened at most
		return false
	var depth = 0
	var parts = text.replace("\\\\", "").replace("\\\"", "").split("\"")
	for i in range(0, parts.size(), 2): # what is in no string
		for mark in parts[i]:
			if mark == "[" or mark == "{":
				depth += 1
			elif mark == "]" or mark == "}":
				depth -= 1
			if depth > 64:
				return true
	return false

# JSON.print has six digits of a number.
static func json(value):
	match typeof(value):
		TYPE_DICTIONARY:
			var members = PoolStringArray()
			for name in value:
				members.append(JSON.print(str(name)) + ":" + json(value[name]))
			return "{" + members.join(",") + "}"
		TYPE_ARRAY:
			var items = PoolStringArray()
			for item in value:
				items.append(json(item))
			return "[" + items.join(",") + "]"
		TYPE_REAL:
			if value == floor(value) and abs(value) < 1e15:
				return str(int(value))
			return ("%.10f" % value).rstrip("0") if abs(value) < 1e15 else JSON.print(value)
	return JSON.print(value)

static func seed_random():
	randomize()

# Milliseconds since the start, and since 1970.
static func steady():
	return OS.get_ticks_msec() * 1.0

static func micros():
	return OS.get_ticks_usec()

static func wall():
	return OS.get_system_time_msecs() * 1.0

# Halves of a pair, which JSON may have, are encoded together, and half a pair as U+FFFD.
static func escaped(text):
	var all = text.percent_encode()
	if all.findn("%ed%a") < 0 and all.findn("%ed%b") < 0: # what they become
		return all
	var parts = []
	var high = 0
	for at in range(text.length()):
		var code = text.ord_at(at)
		if high > 0 and code >= 0xdc00 and code < 0xe000:
			var of = 0x10000 + (high - 0xd800) * 1024 + code - 0xdc00
			parts[-1] = "%%%x%%%x%%%x%%%x" % [240 + of / 262144, 128 + of / 4096 % 64, 128 + of / 64 % 64, 128 + of % 64]
			high = 0
			continue
		high = code if code >= 0xd800 and code < 0xdc00 else 0
		parts.append("%ef%bf%bd" if code >= 0xd800 and code < 0xe000 else text[at].percent_encode())
	return PoolStringArray(parts).join("")

static func unescaped(text):
	return text.percent_decode()

static func utf8(text):
	return text.to_utf8()

static func bytes():
	return PoolByteArray()

static func connect_to(http, host, port, tls):
	return http.connect_to_host(host, port, tls, tls)

# Looks a name up, if that would halt the game: Godot before 3.3.3 holds a lock meanwhile. Connecting finds it in a cache.
static func look_up(host):
	if host.is_valid_ip_address() or not has_udp():
		return null
	var of = LookUp.new()
	of.begin(host)
	return of

class LookUp:
	var address = ""
	var _host
	var _thread = Thread.new()
	var _over = false

	func begin(host):
		_host = host
		if _thread.start(self, "_look") != OK: # else _look says when it is over, perhaps already
			_over = true

	func is_over():
		if _over and _thread.is_active():
			_thread.wait_to_finish()
		return _over

	func _look(_none):
		address = IP.resolve_hostname(_host)
		_over = true

	func _notification(what):
		if what == NOTIFICATION_PREDELETE and _thread.is_active():
			_thread.wait_to_finish()

# The web has neither threads nor sockets.
static func has_udp():
	return OS.can_use_threads() and not OS.has_feature("HTML5")

static func start_thread(of, method):
	var thread = Thread.new()
	return thread if thread.start(of, method) == OK else null

static func load_text(path):
	var file = File.new()
	if file.open(path, File.READ) != OK and file.open(path + ".new", File.READ) != OK:
		return ""
	var text = file.get_as_text()
	file.close()
	return text

# A new text is written beside the last one before it replaces that, so that a crash leaves one of them.
static func save_text(path, text):
	var folder = Directory.new()
	if text == "":
		folder.remove(path + ".new")
		folder.remove(path)
		return
	var file = File.new()
	if file.open(path + ".new", File.WRITE) == OK:
		file.store_string(text)
		file.close()
		folder.rename(path + ".new", path)

static func part(of, from, to):
	return of.subarray(from, to - 1) if to > from else PoolByteArray()

static func is_whole(text):
	return text.is_valid_integer()

static func unix(date):
	return OS.get_unix_time_from_datetime(date)
