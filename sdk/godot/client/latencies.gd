# How far regions are from each network that the device is on: measured where that is not known, and kept for half of the
# time that the service believes receipts.

const Connection = preload("res://addons/matchmaker/client/connection.gd")
const Region = preload("res://addons/matchmaker/client/region.gd")

# How many networks are remembered, how many regions a service has, and how many are measured at the same time.
const NETWORKS = 8
const REGIONS = 64
const PARALLEL = 4

var _c
var _kept = {}

func _init(c):
	_c = c

# `done`, an object and its method, gets the latencies, and a problem or null.
func get_for(network, options, done):
	var of = _kept.get(network)
	if of == null or options.get("anew", false) or not of.known():
		_kept.erase(network)
		if _kept.size() == NETWORKS:
			_kept.erase(_kept.keys()[0])
		of = Measurement.new(_c, options)
		_kept[network] = of
	of.tell(done)

class Measurement:
	var _c
	var _options
	var _waiting = []
	var _running = true
	var _added = false
	var _listed = false
	var _regions = []
	var _half = 0.0
	var _until = 0.0
	var _problem = null

	func _init(c, options):
		_c = c
		_options = options
		_c.ask(Connection.request("GET", "v1/regions", {}), [self, "_answered"])

	func known():
		return _running or _problem == null and _c.clock.steady() < _until

	func tell(done):
		_waiting.append(done)
		if not _added:
			_c.add(self)
		_added = true

	func _answered(told, problem):
		_listed = true
		_problem = problem
		if problem != null:
			return
		if typeof(told.get("receiptSeconds")) == typeof(0.5):
			_half = told.receiptSeconds * 1000.0 / 2
		if typeof(told.get("regions")) != TYPE_ARRAY:
			return
		for of in told.regions:
			if typeof(of) == TYPE_DICTIONARY and _regions.size() < REGIONS:
				_regions.append(Region.new(_c, of, _options))

	func step():
		if _running and not _measured():
			return false
		_running = false
		_added = false
		var all = []
		for of in _regions:
			all.append(of.found)
		var told = _waiting
		_waiting = []
		for done in told:
			done[0].call(done[1], all, _problem)
		return true

	func stop():
		_waiting = []
		for of in _regions:
			of.stop()

	# Goes on with the first regions that are not over.
	func _measured():
		if not _listed or _c.suspended:
			return false
		var busy = 0
		for of in _regions:
			if not of.step():
				busy += 1
			if busy == PARALLEL:
				break
		_until = _c.clock.steady() + _half
		return busy == 0
