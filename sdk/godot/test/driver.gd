# The driver of the conformance programme, for Godot 3: ../../conformance/PROTOCOL.md says what it reads and writes. Lines
# come and go by a socket of driver.mjs, since Godot 3.2 does not read its standard input.
extends SceneTree

const Client = preload("res://addons/matchmaker/client/client.gd")
const Platform = preload("res://addons/matchmaker/engine.gd")

class ScaledClock:
	var _scale
	var _epoch
	var _wrong
	func _init(c):
		_scale = c.get("scale", 1) * 1.0
		_epoch = c.get("epoch", Platform.wall()) * 1.0
		_wrong = c.get("clock", 0) * 1.0
	func wall():
		return _epoch + (Platform.wall() - _epoch) / _scale + _wrong
	func steady():
		return wall()

var socket = StreamPeerTCP.new()
var read = PoolByteArray()
var client
var clock
var search
var party
var cancelling = false
var receipts = []
var filler = null
var backfill = ""
var heard = OS.get_ticks_msec()

func _init():
	Engine.target_fps = 200
	socket.connect_to_host("127.0.0.1", int(OS.get_environment("DRIVER_PORT")))

func _idle(_delta):
	if socket.get_status() == StreamPeerTCP.STATUS_CONNECTING:
		return false
	if socket.get_status() != StreamPeerTCP.STATUS_CONNECTED:
		OS.kill(OS.get_process_id()) # it hangs when it quits
	var n = socket.get_available_bytes()
	if n == 0 and OS.get_ticks_msec() - heard > 5000: # driver.mjs was killed: the socket does not tell
		OS.kill(OS.get_process_id())
	if n > 0:
		heard = OS.get_ticks_msec()
		read.append_array(socket.get_data(n)[1])
		var lines = read.get_string_from_utf8().split("\n")
		read = lines[-1].to_utf8()
		for i in range(lines.size() - 1):
			if lines[i] != "":
				run(Platform.parse(lines[i]))
	if client != null:
		client.pump()
	return false

func say(event, members = {}):
	var line = {"event": event}
	for name in members:
		if members[name] != null:
			line[name] = members[name]
	socket.put_data((Platform.json(line) + "\n").to_utf8())

func say_problem(problem):
	if problem != null:
		say("error", {"code": problem.code, "player": problem.player_message()})

func run(c):
	match c["do"]:
		"start":
			clock = ScaledClock.new(c)
			backfill = c.get("backfill", "")
			client = Client.new(c.url, c.project, [self, "ask"], clock)
			if c.has("storage") and c.storage != "":
				Directory.new().make_dir_recursive(c.storage)
				client.connection.storage = c.storage + "/search"
			client.connect("restored", self, "restored")
			client.connect("party_entered", self, "entered")
			client.connect("measured", self, "measured")
			say("ready", {"language": "Godot", "can": ["player", "party", "server", "measure", "redirects", "values"]})
		"token":
			client.connection.tokens.answer(c.get("token", ""), c.get("error", ""))
		"search":
			follow(client.search(options(c)))
		"restore":
			client.restore()
		"cancel":
			cancelling = true
			search.cancel()
		"accept":
			search.accept()
		"decline":
			search.decline()
		"suspend":
			client.suspend()
		"resume":
			client.resume()
		"estimate":
			search.read([self, "estimated"], true)
		"measure":
			client.measure({"network": c.network, "probes": c.probes, "timeout": c.timeout / 1000.0})
		"fill":
			var game = {"Connection": c.connection, "attributes": {"open": c.open}}
			if filler != null:
				filler.update(game)
				return
			filler = client.fill(game, backfill)
			filler.connect("joined", self, "joined")
			filler.connect("failed", self, "say_problem")
		"fill-end":
			filler.end()
		"party-create":
			client.create_party({}, int(c.get("size", 0)))
		"party-join":
			client.join_party(c.code, {})
		"party-ready":
			party.update({"ready": c.ready})
		"party-search":
			party.start(Client.carried(options(c)))
		"party-kick":
			party.kick(c.player)
		"party-leave":
			party.leave()
		_:
			say("unsupported", {"do": c["do"]})

func joined(tickets):
	var ids = []
	for ticket in tickets:
		ids.append(ticket.id)
	say("joined", {"tickets": ids})

func ask(why):
	say("token", {"reason": why})

func options(c):
	var o = {}
	for name in ["queues", "attributes"]:
		if c.has(name):
			o[name] = c[name]
	if c.get("measured", false):
		o["receipts"] = receipts
	return o

func measured(latencies, problem):
	if problem != null:
		say_problem(problem)
		return
	receipts = Client.receipts(latencies)
	say("latencies", {"regions": latencies})

func restored(of, problem):
	if of != null:
		follow(of)
	elif problem != null:
		say_problem(problem)
	else:
		say("idle")

func follow(of):
	search = of
	search.connect("updated", self, "updated")
	search.connect("cancel_answered", self, "cancelled")
	if of.current.state != "starting":
		updated(of.current)

func updated(u):
	match u.state:
		"searching":
			say("searching", {"ticket": u.ticket, "estimate": u.estimate})
		"offered":
			var remaining = round(u.deadline - clock.wall())
			say("offered", {"match": u.match, "remaining": remaining, "players": u.players, "accepted": u.accepted})
		"matched":
			if not cancelling:
				say_matched(u)
		"cancelled":
			say("cancelled")
		"failed":
			if u.problem.code == "ended":
				say("failed", {"reason": u.problem.reason})
			elif u.problem.code == "failed":
				say("failed", {"reason": "assignment", "detail": u.problem.detail})
			else:
				say_problem(u.problem)

func say_matched(u):
	say("matched", {"ticket": u.ticket, "connection": u.connection, "seat": u.seat})

func cancelled(was, problem):
	cancelling = false
	if problem != null:
		say_problem(problem)
	elif not was and search.current.state == "matched":
		say("late")
		say_matched(search.current)

func estimated(told, problem):
	if problem != null:
		say_problem(problem)
	else:
		var of = told.get("estimate")
		say("estimate", of if of != null else {})

func entered(of, problem):
	if problem != null:
		say_problem(problem)
		return
	party = of
	party.connect("updated", self, "party_updated")
	party.connect("searching", self, "follow")
	party.connect("left", self, "left")
	party.connect("failed", self, "say_problem")

func party_updated(state):
	var members = []
	for m in state.members:
		members.append({"id": m.id, "ready": m.get("ready", false)})
	say("party", {"code": state.code, "leader": state.leader, "members": members, "revision": state.revision})

func left(reason, problem):
	if problem != null:
		say_problem(problem)
	else:
		say("left", {"reason": reason})
