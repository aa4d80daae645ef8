# What games do with the service in memory, on Godot 3. It prints passed, or what failed.
extends SceneTree

const Connection = preload("res://addons/matchmaker/client/connection.gd")
const Fake = preload("res://addons/matchmaker/client/fake.gd")
const Platform = preload("res://addons/matchmaker/engine.gd")

# A player of a game.
class Player:
	var client
	var search = null
	var party = null
	var update = {"state": "starting"}
	var known = {"left": "", "cancelled": null, "joined": 0, "ended": false, "regions": null}

	func _init(of):
		client = of
		client.connect("restored", self, "follow")
		client.connect("party_entered", self, "enter")
		client.connect("measured", self, "measured")

	func follow(of, _problem = null):
		search = of
		search.connect("updated", self, "updated")
		search.connect("cancel_answered", self, "answered")
		update = search.current

	func updated(u):
		update = u
		for _i in range(3):
			client.pump() # changes nothing

	func answered(was, _problem):
		known.cancelled = was

	func enter(of, _problem):
		party = of
		party.connect("searching", self, "follow")
		party.connect("left", self, "leaves")

	func leaves(reason, _problem):
		known.left = reason

	func measured(latencies, _problem):
		known.regions = latencies

	func joined(tickets):
		known.joined += tickets.size()

	func filled(_problem):
		known.ended = true

	func says(state):
		return update.state == state

# Answers streams with an error that does not end: some bytes each time that it is asked.
class Drip:
	extends "res://addons/matchmaker/client/fake.gd"
	var dripping = null
	var left = false
	var odd = null

	func _init(speed).(speed):
		pass

	func _answer_ticket(call):
		if call.path[2] != "events":
			._answer_ticket(call)
			return
		call.tell(503)
		call.ends = false
		dripping = call

	func _answer(call):
		if odd == null or call.path[1] != "regions":
			._answer(call)
		else:
			call.tell(200, odd)

	func go_on(call):
		.go_on(call)
		if call == dripping:
			call.text += " "

	func leave(call):
		left = left or call == dripping
		.leave(call)

# Gives a game server its next token, which its client asks it for.
class Renewing:
	extends "res://addons/matchmaker/client/fake.gd"
	var server = null
	var refuses = false
	var renewals = 0
	var next = "fake." + Marshalls.utf8_to_base64("{\"sub\":\"next\"}") + ".fake"

	func _init(speed).(speed):
		pass

	func _asked(_why):
		if server != null: # else it is its client's first token
			server.send("POST", "v1/servers/token", {}, [self, "_renewed"])

	func _renewed(answer, _problem):
		server.connection.tokens.answer(answer.token if answer != null else "", "")

	func _answer(call):
		if call.path[1] == "servers":
			renewals += 1
		if call.path[1] == "servers" and refuses:
			call.refuse(401, "unauthenticated")
		elif call.path[1] == "servers" and call.player == "ada":
			call.tell(200, {"token": next})
		else:
			._answer(call)

var fake
var ada
var bob
var network = Connection.Network.new()
var part = ""
var failed = ""

func _idle(_delta):
	check_page()
	for named in ["searches", "declines", "cancels", "is_full_and_gone", "parties", "restores", "keeps_files",
			"keeps_the_newer", "fills", "autoload", "leaves_errors", "takes_any_regions", "renews", "parses_so_many",
			"looks_names_up"]:
		part = named
		fake = Fake.new(100)
		ada = Player.new(fake.client("ada"))
		bob = Player.new(fake.client("bob"))
		if failed == "":
			call(named)
		ada.client.close()
		bob.client.close()
	print("failed: " + failed if failed != "" else "passed")
	OS.kill(OS.get_process_id()) # it hangs when it quits

# The code of the page is read.
func check_page():
	var file = File.new()
	file.open("res://addons/matchmaker/README.md", File.READ)
	var blocks = file.get_as_text().split("```gdscript\n")
	file.close()
	for i in range(1, blocks.size()):
		var script = GDScript.new()
		script.source_code = blocks[i].split("```")[0]
		if script.reload() != OK:
			failed = "block %d of README.md" % i
	if blocks.size() < 4:
		failed = "README.md has no code"

func holds(what):
	var expression = Expression.new()
	expression.parse(what, ["fake", "ada", "bob", "network"])
	return expression.execute([fake, ada, bob, network], self)

func check(what):
	if failed == "" and not holds(what):
		failed = "%s: %s; %s and %s" % [part, what, ada.update, bob.update]

# Pumps until something holds.
func until(what):
	for _i in range(5000):
		if failed != "" or holds(what):
			return
		ada.client.pump()
		bob.client.pump()
		OS.delay_msec(1)
	check(what)

func both_search():
	ada.follow(ada.client.search({"attributes": {"skill": 1200}}))
	bob.follow(bob.client.search())
	until("ada.says('searching') and bob.says('searching') and fake.waiting().size() == 2")

func searches():
	fake.slow = 200
	both_search()
	fake.offer(["ada", "bob"], 2000)
	until("ada.says('offered') and bob.says('offered')")
	check("ada.update.players == 2 and not ada.update.answered")
	ada.search.accept()
	until("bob.update.accepted == 1 and ada.update.answered")
	fake.cut()
	bob.search.accept()
	until("ada.says('matched') and bob.says('matched')")
	check("ada.update.seat == 'seat of ada' and ada.update.connection == '127.0.0.1:7777' and fake.waiting() == []")
	ada.search.cancel()
	until("ada.known.cancelled == false")
	ada.follow(ada.client.search({}))
	until("ada.says('searching')")
	fake.assign(["ada"], {"error": "AllocationError"})
	until("ada.says('failed')")
	check("ada.update.problem.code == 'failed' and ada.update.problem.detail == 'AllocationError'")

func declines():
	both_search()
	fake.offer(["ada", "bob"], 2000)
	until("ada.says('offered') and bob.says('offered')")
	ada.search.decline()
	until("ada.says('failed') and bob.says('searching')")
	check("ada.update.problem.player_message() == 'You declined the match.'")
	fake.offer(["bob"], 1)
	until("bob.says('failed')")
	check("bob.update.problem.reason == 'silent'")
	both_search()
	fake.end("bob", "abandoned")
	until("bob.says('failed')")
	check("bob.update.problem.reason == 'abandoned'")
	bob.follow(bob.client.search())
	until("bob.says('searching')")
	fake.end("bob", "unserved")
	until("bob.says('failed')")
	check("bob.update.problem.player_message() == 'This game mode is not available right now.'")

func cancels():
	both_search()
	fake.offer(["ada", "bob"], 2000)
	until("ada.says('offered') and bob.says('offered')")
	ada.search.cancel()
	until("ada.says('cancelled') and bob.says('searching')")
	check("ada.known.cancelled and fake.waiting() == ['bob']")

func is_full_and_gone():
	fake.full = 1
	ada.client.connection.storage = "user://before"
	ada.client.connection.save({"ticket": "older"})
	ada.follow(ada.client.search({}))
	until("ada.says('failed')")
	check("ada.update.problem.code == 'busy' and ada.client.connection.kept().get('ticket') == 'older'")
	ada.client.forget()
	ada.client.connection.storage = ""
	fake.full = 0
	fake.gone = true
	ada.follow(ada.client.search({}))
	until("ada.says('failed')")
	check("ada.update.problem.code == 'offline'")

func parties():
	ada.client.create_party()
	until("ada.party != null")
	bob.client.join_party(ada.party.state.code.to_lower(), {"ready": false})
	until("bob.party != null and ada.party.state.members.size() == 2")
	bob.party.update({"ready": true})
	until("ada.party.state.members[1].ready")
	ada.party.start({})
	until("ada.says('searching') and bob.says('searching')")
	fake.assign(["bob"])
	until("ada.says('matched') and bob.says('matched')")
	check("ada.update.seat == 'seat of ada' and bob.update.seat == 'seat of bob'")
	ada.party.start({})
	until("ada.says('searching') and bob.says('searching')")
	fake.offer(["ada"])
	until("bob.says('offered')")
	ada.party.promote("bob")
	until("bob.party.leads()")
	bob.party.kick("ada")
	until("ada.known.left == 'kicked' and bob.says('failed') and bob.party.state.members.size() == 1")
	bob.party.leave()
	until("bob.known.left == 'left'")

func restores():
	fake.gone = false
	both_search()
	ada.client.close()
	ada = Player.new(fake.client("ada"))
	ada.client.restore()
	until("ada.says('searching')")
	fake.assign(["ada"])
	until("ada.says('matched')")

# A crash comes while a text is written, or before it takes the place of the one before.
func keeps_files():
	var path = "user://kept"
	Platform.save_text(path, "one")
	var file = File.new()
	file.open(path + ".new", File.WRITE)
	file.store_string("tw")
	file.close()
	var kept = [Platform.load_text(path)]
	Platform.save_text(path, "two")
	Directory.new().rename(path, path + ".new")
	kept.append(Platform.load_text(path))
	Platform.save_text(path, "")
	kept.append(Platform.load_text(path))
	if kept != ["one", "two", ""]:
		failed = "kept is %s" % [kept]

# The players share what is kept: his search is the newer one, and hers leaves it.
func keeps_the_newer():
	for player in [ada, bob]:
		player.client.connection.storage = "user://shared"
	both_search()
	check("bob.client.connection.kept().get('ticket') == bob.update.ticket")
	ada.search.cancel()
	until("ada.says('cancelled')")
	check("bob.client.connection.kept().get('ticket') == bob.update.ticket")

func fills():
	ada.follow(ada.client.search({}))
	until("ada.says('searching')")
	var filler = bob.client.fill({"Connection": "192.0.2.1:7000", "attributes": {"open": 2}})
	filler.connect("joined", bob, "joined")
	filler.connect("ended", bob, "filled")
	until("fake.games().size() == 1")
	fake.join(["ada"])
	until("bob.known.joined == 1 and ada.says('matched')")
	check("ada.update.connection == '192.0.2.1:7000'")
	filler.update({"Connection": "192.0.2.1:7000", "attributes": {"open": 1}})
	until("fake.games()[0].attributes.open == 1")
	filler.end()
	until("bob.known.ended and fake.games() == []")
	check("bob.known.joined == 1")
	ada.client.measure()
	until("ada.known.regions == []")

func leaves_errors():
	fake = Drip.new(1000)
	ada = Player.new(fake.client("ada"))
	ada.follow(ada.client.search({}))
	var end = fake.steady() + 400000
	while fake.steady() < end:
		ada.client.pump()
		OS.delay_msec(1)
		if fake.left:
			return
	failed = "a stream's error has no end"

func takes_any_regions():
	fake = Drip.new(100)
	ada = Player.new(fake.client("ada"))
	for odd in ["{\"regions\":null}", "{\"receiptSeconds\":\"x\",\"regions\":[null,1,{\"name\":\"eu\",\"url\":5,\"udp\":1}]}"]:
		ada.known.regions = null
		fake.odd = Platform.parse(odd)
		ada.client.measure({"anew": true})
		until("ada.known.regions != null")
	check("ada.known.regions.size() == 1 and ada.known.regions[0].region == 'eu'")

func renews():
	fake = Renewing.new(100)
	ada = Player.new(fake.client("ada"))
	fake.server = ada.client
	ada.client.connection.tokens.expire()
	ada.client.measure()
	until("ada.known.regions == []")
	check("ada.client.connection.tokens.token == fake.next")
	fake.refuses = true
	ada.known.regions = null
	ada.client.connection.tokens.expire()
	ada.client.measure({"anew": true})
	until("ada.known.regions == []")
	check("fake.renewals == 2")

func parses_so_many():
	var text = "1"
	for _i in range(17):
		text += "," + text
	if Platform.parse("[" + text + "]") == null:
		failed = "131073 values are no JSON"
	if Platform.parse("[" + text + "," + text + "]") != null:
		failed = "262145 are"
	var deep = ""
	for _i in range(64):
		deep += "["
	if Platform.parse(deep + deep.replace("[", "]")) == null or Platform.parse("{\"\\\\\\\"" + deep + deep + "\":1}") == null:
		failed = "64 lists in lists are no JSON, or brackets in a text count"
	if Platform.parse(text.replace("1,", "[")) != null:
		failed = "more are"

func looks_names_up():
	until("network.knows('localhost')")
	check("network.open('localhost', 1, false) != null")
	var long = "x%063d.invalid" % 0 # no resolver asks others for it
	until("network.knows('%s')" % long)
	check("network.open('%s', 1, false) == null" % long)

func autoload():
	var node = load("res://addons/matchmaker/matchmaker.gd").new()
	node.open_fake(fake, "eve")
	ada.follow(node.search())
	for _i in range(1000):
		node._process(0)
	check("ada.says('searching') and fake.waiting() == ['eve']")
	node.free()
