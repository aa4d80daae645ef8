package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// disk is a small file system, which can be full.
type disk struct{ dir string }

// diskSize is enough for the files of a run, and for a copy while Redis writes them again.
const diskSize = "384m"

// filler is the file that fills a disk.
const filler = "filler"

// fill fills the disk to the last byte.
func (d *disk) fill() error {
	file, err := os.Create(filepath.Join(d.dir, filler))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	zeros := make([]byte, 1<<20)
	for len(zeros) > 0 {
		if _, err := file.Write(zeros); errors.Is(err, syscall.ENOSPC) {
			zeros = zeros[:len(zeros)/2] // what is left may be less
		} else if err != nil {
			return err
		}
	}
	return nil
}

// clear makes room again.
func (d *disk) clear() error { return os.Remove(filepath.Join(d.dir, filler)) }
