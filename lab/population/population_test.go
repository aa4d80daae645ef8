package population_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"matchmaker.dev/services/lab/population"
)

func distribution(t *testing.T, text string) population.Distribution {
	t.Helper()
	d, err := population.ParseDistribution(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func all(p *population.Population, seed uint64) (list []*population.Arrival) {
	for c := p.Generate(seed); ; {
		a, more := c.Next()
		if !more {
			return list
		}
		list = append(list, a)
	}
}

func TestPopulationIsAsMany(t *testing.T) {
	for name, p := range map[string]population.Population{
		"steady":  {Duration: time.Hour, Rate: 10},
		"parties": {Duration: time.Hour, Rate: 10, Parties: []float64{2, 1, 1}},
		"daily":   {Duration: 24 * time.Hour, Rate: 1, Daily: true, Hour: 7},
		"morning": {Duration: time.Hour, Rate: 10, Daily: true, Hour: 4, Cities: population.Europe},
	} {
		if err := p.Validate(); err != nil {
			t.Fatal(name, err)
		}
		players, last := 0, time.Duration(0)
		for _, a := range all(&p, 3) {
			if a.At < last || a.At >= p.Duration {
				t.Fatalf("%s: %v comes after %v", name, a.At, last)
			}
			last = a.At
			players += max(1, len(a.Ticket.GetPlayers()))
		}
		want := p.Rate * p.Duration.Seconds()
		if math.Abs(float64(players)-want) > 0.02*want {
			t.Errorf("%s: %d players, not %g", name, players, want)
		}
	}
}

func TestNightsAreQuiet(t *testing.T) {
	p := population.Population{Duration: 24 * time.Hour, Rate: 1, Daily: true, Cities: population.Europe}
	var hours [24]int
	for _, a := range all(&p, 1) {
		hours[int(a.At.Hours())]++
	}
	if hours[1] == 0 || hours[18] < 5*hours[1] {
		t.Errorf("players by the hour, in UTC: %v", hours)
	}
}

// Members of a party are near the first, where that is asked for.
func TestMembersOfPartiesAreNearTheFirst(t *testing.T) {
	p := population.Population{Duration: time.Minute, Rate: 50, Parties: []float64{1, 1, 1},
		Attributes: map[string]population.Distribution{
			"level": distribution(t, "uniform:0:1000"), "skill": distribution(t, "normal:1500:400"),
		},
		Within: map[string]float64{"skill": 120}}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	far, far100, levels := 0.0, 0, 0
	for _, a := range all(&p, 2) {
		players := a.Ticket.GetPlayers()
		for _, one := range players[min(1, len(players)):] {
			gap := math.Abs(one.GetAttributeValues()[1] - players[0].GetAttributeValues()[1])
			if far = max(far, gap); gap > 100 {
				far100++
			}
			if math.Abs(one.GetAttributeValues()[0]-players[0].GetAttributeValues()[0]) > 500 {
				levels++
			}
		}
	}
	if far > 120 || far100 == 0 || levels == 0 {
		t.Errorf("the skills are up to %g apart, %d times by more than 100; %d levels are far apart", far, far100, levels)
	}
}

// Adding an attribute, a latency or patience does not change which players come, and they have what was asked for.
func TestTicketsAreReproducible(t *testing.T) {
	p := population.Population{Duration: time.Minute, Rate: 20, Parties: []float64{1, 1},
		Attributes: map[string]population.Distribution{"skill": distribution(t, "normal:1500:400")}}
	first := all(&p, 5)
	if diff := cmp.Diff(first, all(&p, 5), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	more := p
	more.Attributes = map[string]population.Distribution{
		"level": distribution(t, "uniform:0:9"), "skill": p.Attributes["skill"],
	}
	more.Latency, more.Regions, more.Patience = "latency", population.KnownRegions()[:1], distribution(t, "exponential:30")
	second := all(&more, 5)
	if len(first) != len(second) {
		t.Fatalf("%d tickets, not %d", len(second), len(first))
	}
	for i, a := range first {
		b := second[i]
		if a.At != b.At || a.Ticket.GetAttributeValues()[0] != b.Ticket.GetAttributeValues()[1] ||
			len(a.Ticket.GetPlayers()) != len(b.Ticket.GetPlayers()) {
			t.Fatalf("ticket %d: %v, %v", i, a, b)
		}
		if a.Patience != 0 || b.Patience <= 0 || b.Latency["frankfurt"] < 5 {
			t.Fatalf("ticket %d: %v, %v", i, a.Patience, b)
		}
		properties := b.Ticket.GetProperties()
		if players := b.Ticket.GetPlayers(); len(players) > 0 {
			properties = players[1].GetProperties()
			mean := (players[0].GetAttributeValues()[1] + players[1].GetAttributeValues()[1]) / 2
			if math.Abs(mean-b.Ticket.GetAttributeValues()[1]) > 1e-9 {
				t.Fatalf("ticket %d is not the mean of its players: %v", i, b.Ticket)
			}
		}
		if len(properties["latency"]) < len(`{"frankfurt":5}`) {
			t.Fatalf("ticket %d: %v", i, b.Ticket)
		}
	}
	if other := all(&p, 6); cmp.Equal(first[0], other[0], protocmp.Transform()) {
		t.Error("two seeds give the same players")
	}
}

func TestBadPopulationsNameTheMember(t *testing.T) {
	good := population.Population{Duration: time.Minute, Rate: 1}
	for _, c := range []struct {
		want   string
		change func(p *population.Population)
	}{
		{"duration: from 1s to 744h0m0s is expected", func(p *population.Population) { p.Duration = 0 }},
		{"rate: more than 0 and at most 100000 players a second are expected",
			func(p *population.Population) { p.Rate = math.NaN() }},
		{"hour: from 0 to less than 24 is expected", func(p *population.Population) { p.Hour = 24 }},
		{"parties: numbers of 0 or more are expected, of which one is more than 0",
			func(p *population.Population) { p.Parties = []float64{0} }},
		{"regions: mars: a latitude of at most 90 and a longitude of at most 180 are expected",
			func(p *population.Population) { p.Regions = []population.Region{{Name: "mars", Lat: 91}} }},
		{`regions: "eu" is empty or there twice`,
			func(p *population.Population) { p.Regions = []population.Region{{Name: "eu"}, {Name: "eu"}} }},
		{`values: "roles" has no value, or is the latencies`,
			func(p *population.Population) { p.Values = map[string][][]byte{"roles": nil} }},
	} {
		p := good
		c.change(&p)
		if err := p.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
