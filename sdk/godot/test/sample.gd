# Runs a sample for Godot 3 as a program: SAMPLE is its name, SAMPLE_ARGUMENT what the samples of other languages get.
extends SceneTree

const ARGUMENTS = {"party": "code", "backfill": "connection", "reconnect": "storage"}

var sample = null
var picked = false

func _idle(_delta):
	var named = OS.get_environment("SAMPLE")
	var argument = OS.get_environment("SAMPLE_ARGUMENT")
	if sample == null:
		sample = load("res://addons/matchmaker/samples/" + named + ".gd").new()
		sample.url = OS.get_environment("MM_URL")
		sample.project = OS.get_environment("MM_PROJECT")
		sample.token = OS.get_environment("MM_TOKEN")
		if ARGUMENTS.has(named) and argument != "":
			sample.set(ARGUMENTS[named], argument)
		root.add_child(sample)
	elif named == "regions" and not picked and sample.measured.size() > 0:
		picked = true
		sample.pick(argument)
	return false
