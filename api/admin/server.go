// Package admin answers requests of the admin listener: whether a replica is alive and ready, and
// its metrics.
package admin

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/state"
)

// Admin answers requests of the admin listener.
type Admin struct {
	Ready    func() state.Readiness
	Metrics  fasthttp.RequestHandler
	Profiles bool // of the process are shown
}
