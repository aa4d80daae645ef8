//go:build wasip1

package matchfn

import (
	"runtime"
	"unsafe"

	"matchmaker.dev/pkg/matchfn/block"
)

// module is the state of the exports. Exported functions have no receiver, so this is the only package state of the
// SDK.
var module struct {
	function *Function
	request  []uint64 // aligned to 8 bytes
	manifest []byte
}

func export(f *Function) { module.function = f }

// output writes to standard error, which is the function's log. The built-in print does not need package os.
func output(text string) { print(text) }

//go:wasmexport mm_abi
func mmABI() uint32 { return block.Version }

// mmAlloc returns the address for a request of size bytes. It is valid until the next call.
//
//go:wasmexport mm_alloc
func mmAlloc(size uint32) uint32 {
	if words := int(size/8) + 1; words > len(module.request) {
		module.request = nil
		collect(words)
		// Pools grow a little from run to run.
		module.request = make([]uint64, words+words/8)
	}
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(module.request))))
}

// mmRun answers the request of size bytes that the host has written.
//
//go:wasmexport mm_run
func mmRun(size uint32) uint64 {
	var failed block.AnswerBuilder
	switch {
	case module.function == nil:
		return place(failed.Fail("this module registers no match function: " +
			"call matchfn.Register in the declaration of a package variable, because main is not run"))
	case uint64(size) > uint64(len(module.request))*8:
		return place(failed.Fail("mm_run got more bytes than mm_alloc allocated"))
	}
	request := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(module.request))), size)
	return place(module.function.Answer(request))
}

//go:wasmexport mm_manifest
func mmManifest() uint64 {
	var m block.Manifest
	if module.function != nil {
		m = module.function.manifest
	}
	module.manifest = m.JSON()
	return place(module.manifest)
}

// collect frees what earlier runs left, before memory for so many tickets or words is needed: the memory of a module
// never shrinks, and the collector would let it grow to twice what is used before it looks.
func collect(n int) {
	const many = 1 << 18 // for fewer it takes longer than it is worth
	if n >= many {
		runtime.GC()
	}
}

// place returns the address of bytes in the upper half and their length in the lower half.
func place(b []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))<<32 | uint64(len(b))
}
