package list

import (
	"runtime"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// Lists answers requests for lists from the snapshots of a state.
type Lists struct {
	State       *state.State
	Routes      Routes
	Identifiers *Identifiers
	Requests    Requests
	Pages       Pages
	Heads       Heads

	Public  *fasthttp.Server
	Callers *wire.Connections

	Admission Admission
	Bodies    *BodyCache
	WarmLimit time.Duration // changed by tests
}

// New returns the lists of a state, without routes. kinds are those of all record sources.
func New(s *state.State, kinds []contract.Kind) *Lists {
	o := &s.Options
	l := &Lists{
		State:       s,
		Identifiers: &Identifiers{state: s},
		Pages:       Pages{s},
		Heads:       Heads{s},
		Admission:   newAdmission(s, runtime.GOMAXPROCS(0)),
		Bodies:      newBodyCache(s.Shares.Bodies, s.Budget), WarmLimit: warmLimit,
	}
	l.Routes = Routes{
		state: s, identifiers: l.Identifiers, admission: &l.Admission, answer: l.AnswerList,
		routers: map[string]*router.Router{}, Mounts: NewMounts(o, kinds), Endpoints: []string{"other"},
		sources: map[contract.Kind]*RecordSource{},
	}
	l.Requests = Requests{s, &l.Routes}
	s.Hooks.Warm = l.Warm
	return l
}
