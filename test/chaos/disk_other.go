//go:build !linux

package main

import "errors"

// mount makes a folder a disk.
func mount(string) (*disk, error) { return nil, errors.ErrUnsupported }

// unmount ends the disk.
func (d *disk) unmount() error { return errors.ErrUnsupported }
