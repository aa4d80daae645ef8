# The autoload Matchmaker: the service, for one player. It pumps each frame, and suspends in the background.
extends Node

const Client = preload("res://addons/matchmaker/client/client.gd")

# A token is needed, for the first time, since it is expiring, or since it was refused: call set_token.
signal token_needed(why: String)
# As in client.gd.
signal restored(search: RefCounted, problem: RefCounted)
signal party_entered(party: RefCounted, problem: RefCounted)
signal measured(latencies: Array, problem: RefCounted)

var client = null

# Begins for a player, and returns what is wrong with the address or the project; empty if nothing is.
func open(url, project, storage = "user://matchmaker.json"):
	close()
	client = Client.new(url, project, [self, "_ask"], null)
	client.connection.storage = storage
	_listen()
	var wrong = client.connection.wrong
	if wrong != "":
		client = null
	return wrong

# Begins for a player of the service in memory, for a game's tests: client/fake.gd.
func open_fake(fake, player):
	close()
	client = fake.client(player)
	_listen()

func _listen():
	client.connect("restored", Callable(self, "_restored"))
	client.connect("party_entered", Callable(self, "_entered"))
	client.connect("measured", Callable(self, "_measured"))

func set_token(token, why_none = ""):
	if client != null:
		client.connection.tokens.answer(token, why_none)

func search(options = {}):
	return client.search(options)

func restore():
	client.restore()

func forget():
	client.forget()

func create_party(options = {}, size = 0):
	client.create_party(options, size)

func join_party(code, options = {}):
	client.join_party(code, options)

func party():
	client.party()

# The latencies come with the signal measured; their receipts go into the options of a search.
func measure(options = {}):
	client.measure(options)

func receipts(latencies):
	return Client.receipts(latencies)

# For game servers, with the server's token: keeps a running game filled.
func fill(game, backfill = ""):
	return client.fill(game, backfill)

func send(method, path, more, done):
	client.send(method, path, more, done)

func close():
	if client != null:
		client.close()
	client = null

func _process(_delta):
	if client != null:
		client.pump()

func _notification(what):
	if client == null:
		return
	if what == NOTIFICATION_APPLICATION_PAUSED:
		client.suspend()
	elif what == NOTIFICATION_APPLICATION_RESUMED:
		client.resume()

func _exit_tree():
	close()

func _ask(why):
	emit_signal("token_needed", why)

func _restored(of, problem):
	emit_signal("restored", of, problem)

func _entered(of, problem):
	emit_signal("party_entered", of, problem)

func _measured(latencies, problem):
	emit_signal("measured", latencies, problem)
