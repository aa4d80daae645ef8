package director

import "time"

// Settings of the director.
type Settings struct {
	MinInterval   time.Duration `help:"Least time between two runs of a config, on average: after a pause, two may follow each other at once. Where n configs have equal pools, more than three, n thirds of it, and --max-interval at most." default:"10ms" bounds:">0" group:"cycle"`
	MaxInterval   time.Duration `help:"A config runs at least this often, since functions widen with time." default:"1s" bounds:">0" group:"cycle"`
	Window        time.Duration `help:"How long proposals wait for runs of other configs that started with their own." default:"20ms" group:"cycle"`
	Run           time.Duration `help:"How long a run of a function may take." default:"5s" name:"run-time" bounds:">0" group:"cycle"`
	Cores         float64       `help:"How much processor time a project's runs may take, in seconds each second, in all processes together; what is beyond it waits. 0 means no limit." default:"1" name:"project-cores" bounds:"0.." group:"cycle"`
	Lease         time.Duration `help:"How long a project stays with a director that says nothing." default:"3s" bounds:">0" group:"cycle"`
	Claim         time.Duration `help:"How long a claimed ticket waits for its allocation to begin before it may be matched again." default:"30s" bounds:">0" group:"cycle"`
	Approval      time.Duration `help:"How long tickets that were proposed to a running game wait for the approval of its server before they wait for others again." name:"approval-time" default:"20s" bounds:">0" group:"backfill"`
	Silence       time.Duration `help:"A backfill ticket whose server has said nothing for this long is deleted." name:"backfill-silence" default:"1h" bounds:">0" group:"backfill"`
	BackfillFirst bool          `help:"Fill running games before new ones are opened, whatever the scores; without it the scores decide." negatable:"" default:"true" group:"backfill"`
	Matches       int           `help:"Most matches of a project that wait for their servers; beyond it no tickets are claimed until some have one. 0 means no limit." default:"10000" name:"max-matches" bounds:"0.." group:"cycle"`
	Waiting       time.Duration `help:"A ticket that has waited this long is taken for abandoned and deleted." default:"1h" name:"wait-limit" bounds:">0" group:"tickets"`
	Unserved      time.Duration `help:"How long a queue may be without a config before the tickets that wait in it end, where the project refuses such tickets." default:"20s" name:"unserved-grace" bounds:">0" group:"tickets"`
	ConfigHistory time.Duration `help:"How long it is kept what a config was before a change, and what a deleted one was." default:"720h" name:"config-history" bounds:">0" group:"cycle"`
}
