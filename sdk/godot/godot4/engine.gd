# What differs between versions of Godot: this file is Godot 4's.

# A value takes about a hundred bytes, however short its text is.
const MAX_VALUES = 262144

static func parse(text):
	if text == "" or _is_too_much(text):
		return null
	var json_parser = JSON.new()
	return json_parser.data if json_parser.parse(text) == OK else null

# Before each value but the first there is a mark; a text that is not long has room for few.
static func _is_too_much(text):
	var marks = 0
	if text.length() > MAX_VALUES:
		for mark in [",", "[", "{"]:
			marks += text.split(mark, true, MAX_VALUES).size() - 1
	return marks >= MAX_VALUES

static func json(value):
	return JSON.stringify(value, "", false, true)

static func seed_random():
	pass # it is seeded

# Milliseconds since the start, and since 1970.
static func steady():
	return Time.get_ticks_msec() * 1.0

static func micros():
	return Time.get_ticks_usec()

static func wall():
	return Time.get_unix_time_from_system() * 1000.0

static func escaped(text):
	return text.uri_encode()

static func unescaped(text):
	return text.uri_decode()

static func utf8(text):
	return text.to_utf8_buffer()

static func bytes():
	return PackedByteArray()

static func connect_to(http, host, port, tls):
	return http.connect_to_host(host, port, TLSOptions.client() if tls else null)

# Connecting looks names up on a thread.
static func look_up(host):
	return null

# The web has neither threads nor sockets.
static func has_udp():
	return not OS.has_feature("web")

static func start_thread(of, method):
	var thread = Thread.new()
	return thread if thread.start(Callable(of, method)) == OK else null

static func load_text(path):
	if not FileAccess.file_exists(path):
		path += ".new"
	return FileAccess.get_file_as_string(path) if FileAccess.file_exists(path) else ""

# A new text is written beside the last one before it replaces that, so that a crash leaves one of them.
static func save_text(path, text):
	if text == "":
		DirAccess.remove_absolute(path + ".new")
		DirAccess.remove_absolute(path)
		return
	var file = FileAccess.open(path + ".new", FileAccess.WRITE)
	if file != null:
		file.store_string(text)
		file = null # it is closed
		DirAccess.rename_absolute(path + ".new", path)

static func part(of, from, to):
	return of.slice(from, to)

static func is_whole(text):
	return text.is_valid_int()

static func unix(date):
	return Time.get_unix_time_from_datetime_dict(date)
