//go:build !linux

package background

// lowerPriority does nothing: elsewhere a priority is that of the whole process.
func lowerPriority() {}
