# Searches a match as soon as the scene begins, and goes on with one that a crash left.
extends Node

@export var url = "http://127.0.0.1:8080"
@export var project = "demo"
@export var token = "" # for trying out: a game asks its own backend

func _ready():
	Matchmaker.token_needed.connect(_token_needed)
	Matchmaker.open(url, project)
	Matchmaker.restore()
	var found = await Matchmaker.restored
	var search = found[0] if found[0] != null else Matchmaker.search({"attributes": {"skill": 1200}})
	search.updated.connect(_updated)
	if search.has_ended(): # it has a match already
		_updated(search.current)

func _token_needed(_why):
	Matchmaker.set_token(token)

func _updated(update):
	print(update.state)
	if update.state == "matched":
		print("connection ", update.connection) # give update.seat to the game server
	elif update.state == "failed":
		print(update.problem.player_message())
