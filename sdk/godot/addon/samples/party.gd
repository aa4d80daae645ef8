# Makes a party of two, or joins it by its code, and searches a match for both.
extends Node

@export var url = "http://127.0.0.1:8080"
@export var project = "demo"
@export var token = ""
@export var code = "" # empty: a party is made, and its code is printed

var party

func _ready():
	Matchmaker.token_needed.connect(_token_needed)
	Matchmaker.party_entered.connect(_entered)
	Matchmaker.open(url, project)
	if code == "":
		Matchmaker.create_party({"attributes": {"skill": 1200}}, 2)
	else:
		Matchmaker.join_party(code, {"attributes": {"skill": 1200}})

func _token_needed(_why):
	Matchmaker.set_token(token)

func _entered(entered, problem):
	if problem != null:
		print(problem.player_message())
		return
	party = entered
	print("code ", party.state.code)
	party.updated.connect(_party_updated)
	party.searching.connect(_searching)

func _party_updated(state):
	if party.leads() and state.members.size() == 2 and party.search == null:
		party.start({"attributes": {"skill": 1200}})

func _searching(search): # all members follow the same ticket
	search.ended.connect(_ended)

func _ended(update):
	if update.state == "matched":
		print("connection ", update.connection)
