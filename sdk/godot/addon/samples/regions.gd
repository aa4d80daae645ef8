# Measures how far the regions are, and searches a match in the queue of the region that is picked.
extends Node

@export var url = "http://127.0.0.1:8080"
@export var project = "demo"
@export var token = ""

var measured = []

func _ready():
	Matchmaker.token_needed.connect(_token_needed)
	Matchmaker.measured.connect(_measured)
	Matchmaker.open(url, project)
	Matchmaker.measure() # kept: another call measures only when they are old

func _token_needed(_why):
	Matchmaker.set_token(token)

func _measured(latencies, problem):
	if problem != null:
		print(problem.player_message())
		return
	measured = latencies
	for of in latencies:
		print("region ", of.region, " ", of.rtt, " ", of.lost, " of ", of.sent, " lost")

# For the buttons.
func pick(region):
	var options = {"queues": [region], "attributes": {"skill": 1200}, "receipts": Matchmaker.receipts(measured)}
	var search = Matchmaker.search(options)
	search.ended.connect(_ended)

func _ended(update):
	if update.state == "matched":
		print("connection ", update.connection)
