package sandbox

// self is the binary of this process: the file that it was started from, even if that was replaced since.
func self() (string, error) { return "/proc/self/exe", nil }
