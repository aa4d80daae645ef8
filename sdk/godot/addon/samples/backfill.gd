# A game server with one free place. The token is the server's, which its allocation got.
extends Node

@export var url = "http://127.0.0.1:8080"
@export var project = "demo"
@export var token = ""
@export var connection = "127.0.0.1:7000"

var filler
var open = 1

func _ready():
	Matchmaker.token_needed.connect(_token_needed)
	Matchmaker.open(url, project, "")
	filler = Matchmaker.fill(game())
	filler.joined.connect(_joined)
	filler.failed.connect(_failed)
	filler.ended.connect(_ended)

func _token_needed(why):
	if why == "first":
		Matchmaker.set_token(token)
	else:
		Matchmaker.send("POST", "v1/servers/token", {}, [self, "_renewed"])

func _renewed(answer, problem):
	Matchmaker.set_token("" if answer == null else answer.token, "" if problem == null else problem.message)

func game():
	return {"Connection": connection, "queue": "games", "attributes": {"open": open, "skill": 1200}}

func _joined(tickets):
	for ticket in tickets:
		print("joined ", ticket.id)
	open -= tickets.size()
	filler.update(game())
	if open <= 0:
		filler.end() # it is full

func _failed(problem):
	print(problem.message)

func _ended(_problem):
	print("full")
