package patience_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/functions/internal/patience"
	"matchmaker.dev/pkg/matchfn/rules"
)

var of = rules.Patience{Until: 20, Worth: 80, Enough: 0.05}

// Where more players come, a match must be nearer, and never nearer than what is enough. Where no more come than are
// needed, any match will do.
func TestMoreArrivalsArePickier(t *testing.T) {
	c := patience.New(of, nil)
	for _, needed := range []float64{1, 7, 9} {
		last := math.Inf(1)
		for _, rate := range []float64{0, 0.001, 1.9 * needed / 80, 0.5 * needed, needed, 4 * needed, 1e6} {
			share := c.Share(0, rate, needed)
			switch {
			case share > last || share < of.Enough || share > 1:
				t.Errorf("%g players a second, %g needed: %g of the bounds, after %g", rate, needed, share, last)
			case rate < 2*needed/80 && share != 1:
				t.Errorf("%g players a second, %g needed: %g of the bounds: nobody comes", rate, needed, share)
			case rate == 0.5*needed && math.Abs(share-math.Sqrt(1.0/20)) > 1e-9:
				t.Errorf("%g players a second, %g needed: %g of the bounds", rate, needed, share)
			}
			last = share
		}
		if last != of.Enough {
			t.Errorf("with very many players a match must have %g of the bounds", last)
		}
	}
}

// The longer a ticket has waited, the less near its match must be. At the last moment any will do.
func TestLastMomentTakesAnyMatch(t *testing.T) {
	c := patience.New(of, nil)
	last := 0.0
	for age := 0.0; age < 20; age += 0.5 {
		share := c.Share(age, 10, 1)
		if share < last {
			t.Errorf("after %g seconds: %g of the bounds, less than before", age, share)
		}
		if soon := c.Soon(age, 10, 1, share); soon < 0 || soon > 20-age {
			t.Errorf("after %g seconds a nearer match is expected within %g", age, soon)
		}
		last = share
	}
	for _, age := range []float64{20, 21, 1e9} {
		if share := c.Share(age, 1e9, 1); share != 1 {
			t.Errorf("after %g seconds: %g of the bounds", age, share)
		}
	}
}

// The rate is the rate at which players came, however quickly they found a match, computed from the present players
// alone.
func TestRateOfThoseWhoAreGone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, came := range []float64{0.5, 2, 20} { // a second
		for _, stay := range []float64{2, 5, 10} {
			sum := 0.0
			const runs = 400
			for range runs {
				tickets := []patience.Ticket{{Regions: 1, Value: 1500, Players: 1, Age: stay}} // the ticket itself
				for age := random.ExpFloat64() / came; age < 20*stay; age += random.ExpFloat64() / came {
					if random.ExpFloat64()*stay < age {
						continue // has found a match
					}
					for _, regions := range []uint64{1 | 4, 2} { // tickets without a common region do not count
						tickets = append(tickets, patience.Ticket{
							Regions: regions, Value: 1400 + 200*random.Float64(), Age: age, Players: 1,
						})
					}
					tickets = append(tickets, patience.Ticket{Regions: 1, Value: 1700, Age: age, Players: 5}) // out of reach
				}
				sum += patience.New(of, tickets).Rate(patience.Ticket{Regions: 1, Value: 1500, Players: 1}, 100)
			}
			// Half of the rate or twice as much changes what is asked of a match by less than half.
			if rate := sum / runs; rate < came/2 || rate > 2*came {
				t.Errorf("%g players come a second and stay for %g: the rate is %g", came, stay, rate)
			}
		}
	}
}

// A ticket alone in its region or in its reach has nothing to wait for.
func TestNobodyComes(t *testing.T) {
	c := patience.New(of, []patience.Ticket{
		{Regions: 1, Value: 1500, Players: 2, Age: 1}, {Regions: 2, Value: 1500, Players: 1, Age: 1},
		{Regions: 1, Value: 2000, Players: 1, Age: 1},
		{Regions: 1, Value: 1500, Players: 1, Age: 300}, // will take any match, and says nothing
	})
	for _, own := range []patience.Ticket{
		{Regions: 1, Value: 1500, Players: 2}, {Regions: 2, Value: 1500, Players: 1}, {Same: 2, Regions: 1}, {Value: 1500},
	} {
		if rate := c.Rate(own, 100); rate != 0 {
			t.Errorf("%+v: %g players come a second", own, rate)
		}
	}
	if rate := c.Rate(patience.Ticket{Regions: 1, Value: 1500, Players: 2}, math.Inf(1)); rate != 1.0/(1+0.05*20) {
		t.Errorf("of all, %g players come a second", rate)
	}
}

// Very many sets of regions are counted in few cells.
func TestManyRegionsAreFewCells(t *testing.T) {
	var tickets []patience.Ticket
	for i := range uint64(3000) {
		tickets = append(tickets, patience.Ticket{Regions: 2*i + 1, Value: 1500, Players: 1, Age: 1})
	}
	c := patience.New(of, tickets)
	own := patience.Ticket{Regions: 1, Value: 1500, Players: 1}
	if n := c.Cells(own); n > 128 {
		t.Errorf("there are %d cells", n)
	}
	if rate := c.Rate(own, 100); rate != 2999/(1+0.05*20) {
		t.Errorf("%g players come a second", rate)
	}
}
