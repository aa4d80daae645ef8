package main

import "syscall"

// mount makes a folder a disk. Only root may.
func mount(dir string) (*disk, error) {
	if err := syscall.Mount("chaos", dir, "tmpfs", 0, "size="+diskSize); err != nil {
		return nil, err
	}
	return &disk{dir}, nil
}

// unmount ends the disk, with all files, also when a program that ends still has one open.
func (d *disk) unmount() error { return syscall.Unmount(d.dir, syscall.MNT_DETACH) }
