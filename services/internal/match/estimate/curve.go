package estimate

import "math"

// curve is which part of tickets still waits at the beginning of each bin, and how sure that is.
type curve struct {
	left [bins + 1]float64
	// spread is the standard deviation of the logarithm of left.
	spread [bins + 1]float64
	// tickets are about how many came to each bin, counted by how many are matched together.
	tickets [bins]float64
	// known is the last bound up to which there is evidence.
	known int
}

// At a known age at least leastTickets waited lately: counted by how many are matched together.
const leastTickets = 4

func (e *evidence) curve() (c curve) {
	c.left[0] = 1
	together, hazard, variance := e.together(), 0.0, 0.0
	for i := range bins {
		width := bounds[i+1] - bounds[i]
		if e.waited[i] < leastTickets*together*width {
			return c
		}
		c.tickets[i] = 2 * e.waited[i] / width / together // see below
		// Of what fades, n that are seen have the variance n/2.
		hazard += e.matched[i] * width / e.waited[i]
		variance += together * e.matched[i] / 2 * (width / e.waited[i]) * (width / e.waited[i])
		c.left[i+1], c.spread[i+1] = math.Exp(-hazard), math.Sqrt(variance)
		c.known = i + 1
	}
	return c
}

// at is which part waits at an age. It is false for an age that is not known.
func (c *curve) at(age float64) (left float64, ok bool) {
	i := binOf(age)
	if i >= c.known {
		return 0, false
	}
	part := (age - bounds[i]) / (bounds[i+1] - bounds[i])
	return c.left[i] * math.Pow(c.left[i+1]/c.left[i], part), true
}

// when is the age at which only a part waits. It is false if that is not known.
func (c *curve) when(left float64) (age float64, ok bool) {
	for i := range c.known {
		if c.left[i+1] > left {
			continue
		}
		if c.left[i] <= left {
			return bounds[i], true
		}
		part := math.Log(left/c.left[i]) / math.Log(c.left[i+1]/c.left[i])
		return bounds[i] + part*(bounds[i+1]-bounds[i]), true
	}
	return 0, false
}
