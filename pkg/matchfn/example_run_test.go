package matchfn_test

import (
	"fmt"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

// A property has any format that the game chooses. Here it is the map that a player wants. Only players that want the
// same map play together.
func ExampleRun_Property() {
	f := matchfn.New(func(r *matchfn.Run) error {
		wish := r.Property("map")
		waiting := map[string]uint32{}
		for ticket := range uint32(r.Tickets()) {
			name, ok := wish.Of(ticket)
			if !ok {
				continue
			}
			if other, ok := waiting[string(name)]; ok {
				r.Propose(0, other, ticket)
				delete(waiting, string(name))
			} else {
				waiting[string(name)] = ticket
			}
		}
		return nil
	}, matchfn.Attributes(), matchfn.Properties("map"))

	wants := func(name string) fake.Ticket {
		return fake.Ticket{Properties: map[string][]byte{"map": []byte(name)}}
	}
	proposals, err := fake.Run(f, fake.Request{Tickets: []fake.Ticket{wants("cave"), wants("dune"), {}, wants("cave")}})
	for _, p := range proposals {
		fmt.Println(p.Tickets())
	}
	fmt.Println(err)
	// Output:
	// [0 3]
	// <nil>
}

// A ticket without an attribute has NaN there. Comparisons with NaN are false, and SortBy puts it last.
func ExampleRun_Attribute() {
	f := matchfn.New(func(r *matchfn.Run) error {
		for ticket, ping := range r.Attribute("ping") {
			r.Log("ticket", ticket, "near", ping < 50, "far", ping >= 50)
		}
		return nil
	})
	_, err := fake.Run(f, fake.Request{Tickets: []fake.Ticket{{Attributes: map[string]float64{"ping": 20}}, {}}})
	fmt.Println(err)
	// Output:
	// ticket 0 near true far false
	// ticket 1 near false far false
	// <nil>
}

// The seed of random numbers is in the request. So the same request gives the same answer, on every runner and in every
// test.
func ExampleRun_Rand() {
	f := matchfn.New(func(r *matchfn.Run) error {
		maps := []string{"cave", "dune", "reef"}
		r.Log(maps[r.Rand().IntN(len(maps))], maps[r.Rand().IntN(len(maps))])
		return nil
	})
	for range 2 {
		if _, err := fake.Run(f, fake.Request{Seed: 3}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// cave reef
	// cave reef
}

// "mm function log" prints the log. Natively it goes to standard output.
func ExampleRun_Log() {
	f := matchfn.New(func(r *matchfn.Run) error {
		r.Log(r.Tickets(), "tickets at", r.Now(), "tanks", r.Pool("tanks"))
		return nil
	})
	_, err := fake.Run(f, fake.Request{Tickets: make([]fake.Ticket, 4), Pools: map[string][]uint32{"tanks": {1, 3}}})
	fmt.Println(err)
	// Output:
	// 4 tickets at 2030-01-01 00:00:00 +0000 UTC tanks [1 3]
	// <nil>
}

// A function does not get what it does not declare. Reading it is an error, which the first test finds.
func ExampleAttributes() {
	f := matchfn.New(func(r *matchfn.Run) error {
		r.Attribute("rank")
		return nil
	}, matchfn.Attributes("skill"))
	_, err := fake.Run(f, fake.Request{})
	fmt.Println(err)
	// Output:
	// the attribute "rank" is read but was not declared: name it in Register
}
