package sandbox

// takenOver is Main of a child whose code is taken over when its module would run: it does everything that is asked
// until then, and act afterwards.
func takenOver(act func(*child) error) int {
	closeInherited()
	c, err := openChild()
	if err != nil {
		return 2
	}
	switch {
	case c.settings.Inspect:
		err = c.sendInspection(inspection{})
	case c.settings.Compile:
		err = c.send(head{kind: readyFrame}, nil)
	default:
		err = act(c)
	}
	if err != nil {
		return 1
	}
	return 0
}

// wholeMemory shares the linear memory, as large as it may become.
func (c *child) wholeMemory() ([]byte, error) {
	l := &linearMemory{limit: c.settings.Memory}
	if err := l.share(memoryFD); err != nil {
		return nil, err
	}
	return l.Reallocate(uint64(l.limit)), nil
}
