package sandbox

import "testing"

func TestOutOfMemoryIsRecognized(t *testing.T) {
	for words, want := range map[string]bool{
		"fatal error: runtime: out of memory\n\nruntime stack:":                                          true,
		"runtime: mmap: cannot allocate memory":                                                          true,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n":         true,
		"runtime: failed to create new OS thread (have 5 already; errno=12)\nfatal error: newosproc":     true,
		"SIGSEGV: segmentation violation\nPC=0x47233d m=0 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x40aee":  true,
		"SIGSEGV: segmentation violation\nPC=0x47233d m=0 sigcode=1 addr=0x0\n\ngoroutine 1 gp=0x40aee":  false,
		"panic: runtime error: index out of range [1] with length 0\n\ngoroutine 1 [running]:\nmain.f()": false,
		"": false,
	} {
		if got := outOfMemory.MatchString(words); got != want {
			t.Errorf("%.40q: %t, want %t", words, got, want)
		}
	}
}
