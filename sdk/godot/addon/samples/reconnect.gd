# Goes on with the search, or the match, that a crash left; else it searches.
extends Node

@export var url = "http://127.0.0.1:8080"
@export var project = "demo"
@export var token = ""
@export var storage = "user://matchmaker.json"

func _ready():
	Matchmaker.token_needed.connect(_token_needed)
	Matchmaker.restored.connect(_restored)
	Matchmaker.open(url, project, storage)
	Matchmaker.restore()

func _token_needed(_why):
	Matchmaker.set_token(token)

func _restored(left, problem):
	if problem != null:
		print(problem.player_message())
		return
	var search = left if left != null else Matchmaker.search({"attributes": {"skill": 1200}})
	search.updated.connect(_updated)

func _updated(update):
	print(update.state)
	if update.state == "matched":
		print("connection ", update.connection) # when the match is over: Matchmaker.forget()
