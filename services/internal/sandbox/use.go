package sandbox

// Use is an instance's use of the resources that its walls bound.
type Use struct {
	Threads    int64
	Addresses  int64 // bytes of its address space
	PageTables int64 // bytes
	Errors     int64 // bytes that it wrote to its standard error
}

// MostUsed returns the most of each that any instance has now.
func (b *Supervisor) MostUsed() (most Use) {
	b.mu.Lock()
	instances := make([]*process, 0, len(b.processes))
	for p := range b.processes {
		if p.instance {
			instances = append(instances, p)
		}
	}
	b.mu.Unlock()
	for _, p := range instances {
		use := p.use()
		most = Use{
			Threads: max(most.Threads, use.Threads), Addresses: max(most.Addresses, use.Addresses),
			PageTables: max(most.PageTables, use.PageTables), Errors: max(most.Errors, p.stderr.written.Load()),
		}
	}
	return most
}

// Processes returns how many processes and threads the container or unit has that this process is in, and how many it
// may have; 0 where that is not known, or there is no limit.
func Processes() (used, limit int) { return processCount("/proc/self/cgroup", "/sys/fs/cgroup") }
