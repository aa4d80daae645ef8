package rules

// MaxCheckSteps is maxSteps, for tests.
const MaxCheckSteps = maxSteps

// Steps returns how many steps the check of a rule set takes.
func Steps(r *Rules) int {
	c := &checker{rules: r, sizes: sizes{rules: r}}
	c.teams()
	c.rulesHold()
	return c.steps
}
