//go:build race

package sandbox

// raceDetector is true when the detector is in this binary: its shadow memory takes terabytes of addresses.
const raceDetector = true
