package sandbox

// MainWithout is Main with one of its walls missing.
func MainWithout(wall string) int {
	w := walls{shed: shed, confine: confine, loading: loadingFilter, running: runningFilter}
	none := func() error { return nil }
	switch wall {
	case "shed":
		w.shed = func() {}
	case "confine":
		w.confine = func(settings) error { return nil }
	case "loading":
		w.loading = none
	case "running":
		w.running = none
	}
	return lead(w)
}

// Unshare makes a Box's instances keep their memory to themselves, as where the system has no memory to share.
func (b *Box) Unshare() { b.share = func(int) *shared { return nil } }

// Cut tries to cut off the end of a memory that is to be shared.
func Cut(size int) error {
	s := newShared(size)
	defer s.close()
	return s.file.Truncate(int64(size / 2))
}

// Shorten makes jumps of a module shorter.
func Shorten(module []byte) { shorten(module) }
