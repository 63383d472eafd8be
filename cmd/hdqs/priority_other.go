//go:build !linux

package main

// lowerPriority does nothing: elsewhere a priority is that of the whole process.
func lowerPriority() {}
