package ticket

import "matchmaker.dev/services/internal/edge/stream"

// newLongPollLimit makes the places of requests that are held. What is beyond them is not refused: it is answered at
// once, as if it had not asked to wait. The other limits count it like any other.
func newLongPollLimit(o *Options) *stream.Places {
	return stream.NewPlaces(o.Settings.Held, o.Settings.HeldPlayer,
		o.Meter.UpDownCounter("matchmaker.requests.held", "{request}",
			"Requests that this process holds open until a ticket has a result."),
		o.Meter.Counter("matchmaker.requests.unheld", "{request}",
			"Requests that asked to wait and were answered at once, because too many are held open."))
}

// newStreams makes the streams of events, which end when stopped is closed.
func newStreams(o *Options, stopped <-chan struct{}) *stream.Streams {
	return stream.New(stream.Options{Settings: o.Settings.Streams, Stopped: stopped, Log: o.Log,
		Instruments: stream.Instruments{
			Open: o.Meter.UpDownCounter("matchmaker.streams", "{stream}",
				"Streams of events of tickets that this process holds open."),
			Refused: o.Meter.Counter("matchmaker.streams.refused", "{stream}",
				"Streams of events of tickets that were refused because too many are open."),
			Ended: o.Meter.Counter("matchmaker.streams.ended", "{stream}",
				"Streams of events of tickets that ended, by the reason."),
		}})
}
