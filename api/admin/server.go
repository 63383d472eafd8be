// Package admin answers requests of the admin listener: whether a replica is alive and ready, and
// its metrics.
package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/files"
	"hdqs/api/list"
	"hdqs/api/metrics"
	"hdqs/api/state"
)

// Admin answers requests of the admin listener.
type Admin struct {
	State    *state.State
	Lists    *list.Lists
	Files    *files.Files
	Registry *prometheus.Registry
}

// New returns the admin side of a server whose routes are registered.
func New(f *files.Files) *Admin {
	a := &Admin{f.State, f.Lists, f, metrics.NewRegistry()}
	a.Registry.MustRegister(f.State.Requests, Collector{a})
	return a
}
