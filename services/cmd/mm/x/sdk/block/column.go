package block

import "unsafe"

// The format is little-endian and its columns are used in place. So this package works only on little-endian machines;
// endian.go does not compile on others.

// element is the type of a column's elements: without padding and pointers.
type element interface {
	uint32 | int64 | uint64 | float64 | part | explanation
}

// aligned returns n zero bytes at a multiple of eight. They can grow to the next multiple without moving.
func aligned(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:n]
}

// realign returns buf, or a copy if buf is not aligned to eight bytes.
func realign(buf []byte) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(buf)))%8 == 0 {
		return buf
	}
	moved := aligned(len(buf))
	copy(moved, buf)
	return moved
}

// column views bytes as elements. The bytes must be aligned to the element's size; an incomplete last element is
// ignored.
func column[T element](bytes []byte) []T {
	var zero T
	n := len(bytes) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)
}

// bytesOf is the inverse of column.
func bytesOf[T element](column []T) []byte {
	var zero T
	if len(column) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(column))), len(column)*int(unsafe.Sizeof(zero)))
}

// littleEndian replaces encoding/binary, which needs package reflect.
type littleEndian struct{}

var le littleEndian

func (littleEndian) Uint32(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func (littleEndian) Uint64(b []byte) uint64 {
	_ = b[7]
	return uint64(le.Uint32(b)) | uint64(le.Uint32(b[4:]))<<32
}

func (littleEndian) PutUint32(b []byte, v uint32) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

func (littleEndian) PutUint64(b []byte, v uint64) {
	le.PutUint32(b, uint32(v))
	le.PutUint32(b[4:], uint32(v>>32))
}

func align8[T int | int64](n T) T {
	return (n + 7) &^ 7
}
