package schedule

import "time"

// A project that did little before may use burst at once, and a config ownBurst of its share, or an even part of the
// project's if that is less. Both are times of one core, for one core of the budget.
const (
	burst    = 2 * time.Second
	ownBurst = 100 * time.Millisecond
)

// maxDebt is how far a project, or a config, may be behind. Use beyond that is forgiven.
const maxDebt = time.Minute

// A config of which nothing was claimed for fruitlessAfter is fruitless. All fruitless ones of a project together have
// one part in fruitlessPart of its budget: many configs that look at the same tickets in vain do not delay configs that
// find matches.
const (
	fruitlessAfter = 10 * time.Second
	fruitlessPart  = 4
)

// firstEstimate is what a run is assumed to cost before one has ended.
const firstEstimate = 5 * time.Millisecond

// Budget shares a project's processor time among its configs. It is a bucket of work for the project, and a small one
// for each config, which gains an even share of what the project gains. A run may start while the project's bucket is
// not empty, so that one config may use all that the others leave. When it is empty, a run may start if its config's
// own bucket is not: configs that use less than their share do not wait, and configs that use more wait for themselves.
// Fruitless configs share one bucket in the same way, and get a part of the share of others.
//
// A run is charged its likely cost when it starts, and the rest when it ends.
type Budget struct {
	// cores is how many seconds of work the project gains each second; 0 means no limit.
	cores     float64
	level     time.Duration
	fruitless time.Duration // the level of the bucket of all fruitless configs
	at        time.Time
	accounts  map[string]*Account
	sharing   int // how many configs used something lately, when the budget was refilled
	// closed are the accounts of deleted configs until nothing would be gained by forgetting them.
	closed map[string]*Account
}

// maxClosed is how many accounts of deleted configs are remembered.
const maxClosed = 1024

// Account is a config's part of its project's budget.
type Account struct {
	budget    *Budget
	level     time.Duration
	estimate  time.Duration
	found     time.Time // when something of the config was claimed
	fruitless bool
	forgiven  time.Time // when its debt was forgiven last
	// paced is the paced of the segment that ran last: a config that is put again goes on where it was.
	paced time.Time
}

// NewBudget returns a full budget of so many cores; 0 means no limit.
func NewBudget(cores float64) *Budget {
	b := &Budget{cores: cores, accounts: map[string]*Account{}, closed: map[string]*Account{}}
	b.level, b.fruitless = b.scale(burst), b.scale(burst)/fruitlessPart
	return b
}

// Account returns the account of a config. A new one shares the debt that the project has, up to a limit: a project
// does not get out of debt by another config, nor by deleting one and making it again.
func (b *Budget) Account(config string) *Account {
	a := b.accounts[config]
	if a != nil {
		return a
	}
	if a = b.closed[config]; a != nil {
		delete(b.closed, config)
		b.accounts[config] = a
		return a
	}
	a = &Account{budget: b, estimate: firstEstimate}
	b.accounts[config] = a
	a.level = min(b.full(), max(b.level, -b.scale(burst)))
	return a
}

// Close closes the account of a config, which was deleted. It is remembered until it is as good as a new one. What it
// used stays charged to the project.
func (b *Budget) Close(config string) {
	a := b.accounts[config]
	if a == nil {
		return
	}
	delete(b.accounts, config)
	if len(b.closed) >= maxClosed {
		b.forget()
	}
	b.closed[config] = a
}

// forget forgets the closed account that owes least.
func (b *Budget) forget() {
	least := ""
	for config, a := range b.closed {
		if least == "" || a.level > b.closed[least].level {
			least = config
		}
	}
	delete(b.closed, least)
}

// Level is how much work the project has left; below zero it is in debt.
func (b *Budget) Level() time.Duration { return b.level }

// Charge charges work to the config and to its project.
func (a *Account) Charge(d time.Duration) {
	if a == nil {
		return
	}
	a.level = max(a.level-d, -a.budget.scale(maxDebt))
	a.budget.level = max(a.budget.level-d, -a.budget.scale(maxDebt))
	if a.fruitless {
		a.budget.fruitless = max(a.budget.fruitless-d, -a.budget.scale(maxDebt))
	}
}

// Found notes that a match of the config was claimed.
func (a *Account) Found(now time.Time) {
	if a != nil {
		a.found, a.fruitless = now, false
	}
}

// EndDebt forgives most of what the config used: it may be another one now. It does so once within maxDebt: a config
// that changes all the time pays for all of its use.
func (a *Account) EndDebt(now time.Time) {
	if a == nil || now.Sub(a.forgiven) < maxDebt {
		return
	}
	if least := -a.budget.scale(burst); a.level < least {
		a.level, a.forgiven = least, now
	}
}

// pace notes the pace of a segment's runs.
func (a *Account) pace(at time.Time) {
	if a != nil {
		a.paced = later(a.paced, at)
	}
}

// isFruitless reports whether nothing of the config was claimed for long.
func (a *Account) isFruitless() bool { return a != nil && a.fruitless }

// scale is a time of the budget's cores.
func (b *Budget) scale(d time.Duration) time.Duration { return time.Duration(float64(d) * b.cores) }

// refill adds what was gained since the last call.
func (b *Budget) refill(now time.Time) {
	passed := max(0, now.Sub(b.at))
	if b.at = now; b.cores == 0 {
		return
	}
	passed = min(passed, 2*maxDebt*fruitlessPart) // all buckets are full after that
	b.level = min(b.scale(burst), b.level+b.scale(passed))
	b.fruitless = min(b.scale(burst), b.fruitless*fruitlessPart+b.scale(passed)) / fruitlessPart
	share, full := b.scale(passed)/time.Duration(b.sharers()), b.full()
	b.sharing = 0
	for _, a := range b.accounts {
		if a.level = min(full, a.level+share/a.part()); a.level < full {
			b.sharing++
		}
		a.fruitless = now.Sub(a.found) >= fruitlessAfter
	}
	for config, a := range b.closed {
		a.level += share / a.part()
		if a.level >= full && !a.paced.After(now) {
			delete(b.closed, config)
		}
	}
}

// full is the level of a config's bucket when it is full.
func (b *Budget) full() time.Duration {
	return b.scale(min(ownBurst, burst/time.Duration(max(1, len(b.accounts)))))
}

// sharers is how many configs used something lately.
func (b *Budget) sharers() int {
	n, full := 0, b.full()
	for _, a := range b.accounts {
		if a.level < full {
			n++
		}
	}
	return max(1, n)
}

// part is 1, or what the share of a fruitless config is divided by.
func (a *Account) part() time.Duration {
	if a.fruitless {
		return fruitlessPart
	}
	return 1
}

// common is the level of the bucket that the config shares with others.
func (a *Account) common() time.Duration {
	if a.fruitless {
		return min(a.budget.level, a.budget.fruitless)
	}
	return a.budget.level
}

// allows reports whether a run of the config may start.
func (a *Account) allows() bool {
	return a == nil || a.budget.cores == 0 || a.common() >= 0 || a.level >= 0
}

// allowsAt is when a run of the config may start if nothing else starts.
func (a *Account) allowsAt(now time.Time) time.Time {
	b, part := a.budget, float64(a.part())
	wait := min(-float64(a.common())*part, -float64(a.level)*part*float64(max(1, b.sharing))) / b.cores
	return now.Add(max(0, time.Duration(wait)) + time.Millisecond)
}

// balance is how much the config has left of its share.
func (a *Account) balance() time.Duration {
	if a == nil {
		return 0
	}
	return a.level
}

// reserve charges the likely cost of a run, and returns it.
func (a *Account) reserve() time.Duration {
	if a == nil {
		return 0
	}
	a.Charge(a.estimate)
	return a.estimate
}

// settle charges the cost of a run instead of the reserved one, and corrects the estimate for the next one.
func (a *Account) settle(reserved, cost time.Duration) {
	if a == nil {
		return
	}
	a.Charge(cost - reserved)
	a.estimate = (3*a.estimate + cost) / 4
}
