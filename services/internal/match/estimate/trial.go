package estimate

import "math"

// parts are into how many parts of the same probability a forecast divides the time that a ticket may wait.
const parts = 20

// trial is how forecasts turned out lately: how many tickets reached each part of their forecast, and how many were
// matched in it. Conditions that change all the time make forecasts wrong in the same way again and again. A trial
// notes that, and puts the next ones right.
type trial struct {
	reached [parts]float64
	matched [parts]float64
}

const (
	trialMemory = 1800 // seconds
	// prior is how many tickets a trial begins with that were matched just as their forecasts said.
	prior = 20
)

func (t *trial) fade(elapsed float64) {
	by := math.Exp(-elapsed / trialMemory)
	for i := range parts {
		t.reached[i] *= by
		t.matched[i] *= by
	}
}

// left is which part of tickets waits at the beginning of each part of their forecasts. It would be 1, 0.95, 0.9 and so
// on if forecasts were right.
func (t *trial) left() (left [parts]float64) {
	left[0] = 1
	for i := range parts - 1 {
		reached := t.reached[i] + prior*float64(parts-i)/parts
		matched := min(reached, t.matched[i]+prior/parts)
		left[i+1] = left[i] * (1 - matched/reached)
	}
	return left
}

// right is which part of tickets waits when a forecast says that a part does.
func right(left *[parts]float64, said float64) float64 {
	at := (1 - said) * parts
	i := min(parts-1, int(at))
	if i == parts-1 {
		return left[i] * said * parts
	}
	return left[i] + (at-float64(i))*(left[i+1]-left[i])
}

// said is the inverse: what a forecast says when a part of tickets waits. It is 0 where that is not known.
func said(left *[parts]float64, waits float64) float64 {
	for i := range parts - 1 {
		if left[i+1] < waits {
			return 1 - (float64(i)+(left[i]-waits)/(left[i]-left[i+1]))/parts
		}
	}
	if left[parts-1] <= 0 {
		return 0
	}
	return waits / left[parts-1] / parts
}
