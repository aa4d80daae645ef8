//go:build !linux

package sandbox

// inspect finds that there are no walls.
func (c *child) inspect(walls) error {
	return c.report(inspection{Holes: []string{"do all that this user can, as there are walls on Linux alone"}})
}
