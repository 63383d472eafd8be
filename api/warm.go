package api

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/wire"
	"hdqs/internal/background"
)

// Much of what answers consist of is made when it is first needed: fragments, the codes of the
// encoders, lists of tuples. On one core, the requests of the first second after a start or a swap
// would wait for it. So each endpoint answers a few typical requests from a new snapshot, and the
// answers are discarded: before a swap, and at a start before /readyz says yes.

// warmRequests are what every endpoint answers. They need whatever is made once for a table: the
// fragments of its first page, and the first codes and the choice of encoder for compressed pages.
// Those are made from rows all over the table, so most of its other fragments are made too. The
// requests in zstd, and those of warmFilters, also make the encoders of that coding.
var warmRequests = []warmRequest{
	{"limit=200", encode.Gzip},
	{"output_format=csv&limit=200", encode.Zstd},
	{"limit=10000", encode.Identity},
}

// warmRequest is the query of a request for a list, and the coding of its answer.
type warmRequest struct {
	query  string
	coding encode.Coding
}

// warmLimit bounds the time of all warm-up requests. For twelve million rows they take 0.28 s on
// one core.
const warmLimit = 5 * time.Second

// WarmUp is how many requests warmed up a snapshot, and how long that took.
type WarmUp struct {
	Requests int
	Took     time.Duration
}

// WarmUp returns that of the served snapshot. It is zero until the warm-up has ended, and
// if no table had changed.
func (s *Server) WarmUp() WarmUp {
	if v := s.current.Load(); v != nil {
		if w := v.warmUp.Load(); w != nil {
			return *w
		}
	}
	return WarmUp{}
}

// EndWarmUp ends a warm-up that is running, and later ones at once. The snapshot is served without
// the rest, so that a program that has to end need not wait.
func (s *Server) EndWarmUp() { s.noWarmUp.Store(true) }

// InterruptWarmUp ends a warm-up that is running, so that its caller can look at the store again.
// The snapshot is served without the rest.
func (s *Server) InterruptWarmUp() { s.cutWarmUp.Store(true) }

// warm answers the warm-up requests from a snapshot, for the tables that have changed since an
// earlier one, the largest first. The earlier Bound may be nil. An error or a panic means that the
// snapshot cannot be served.
//
// At a swap it uses one goroutine, since requests need the other cores. At a start it uses all.
func (s *Server) warm(v *served, earlier *Bound) error {
	if s.options.SkipWarmUp {
		return nil
	}
	w := warmUp{server: s, served: v, began: time.Now(), plans: s.coldPlans(v.bound, earlier)}
	var err error
	if earlier != nil {
		err = w.work() // on the thread of the caller, which has a low priority
	} else {
		err = w.workOnAll()
	}
	took := time.Since(w.began)
	v.warmUp.Store(&WarmUp{int(w.answered.Load()), took})
	if w.late.Load() {
		s.log.Warn("warming up took too long; the first requests will be slower", "requests", w.answered.Load(),
			"took", took.Round(time.Millisecond))
	}
	return err
}

// warmUp is a warm-up that runs.
type warmUp struct {
	server   *Server
	served   *served
	began    time.Time
	plans    []*contract.Plan
	next     atomic.Int64 // of plans
	answered atomic.Int64
	late     atomic.Bool // it took too long
	failed   atomic.Bool
}

// workOnAll is work on all cores, in threads of a low priority: the first requests may come
// meanwhile.
func (w *warmUp) workOnAll() error {
	workers := runtime.GOMAXPROCS(0) // before there is a thread more, which stays for the requests
	defer background.More()()
	var group errgroup.Group
	for range workers {
		group.Go(func() (err error) {
			background.Run(func() { err = w.work() })
			return err
		})
	}
	return group.Wait()
}

// work answers the requests of one endpoint after the other, until none is left.
func (w *warmUp) work() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("api: a panic while a snapshot was warmed up: %v\n%s", fault, debug.Stack())
		}
		if err != nil {
			w.failed.Store(true)
		}
	}()
	buffer := new(wire.BodyBuffer)
	for {
		i := int(w.next.Add(1)) - 1
		if i >= len(w.plans) {
			return nil
		}
		p := w.plans[i]
		for _, r := range slices.Concat(warmRequests, warmFilters(p.Endpoint)) {
			if w.ends() {
				return nil
			}
			if err := w.server.rehearse(w.served, p, r, buffer); err != nil {
				if w.isRefused(p) {
					break
				}
				return fmt.Errorf("api: warming up %s?%s: %w", p.Endpoint.Path, r.query, err)
			}
			w.answered.Add(1)
			runtime.Gosched() // on one core, requests and the garbage collector wait for this goroutine
		}
	}
}

// isRefused reports whether the snapshot is served already, and an endpoint is refused since its
// table was found damaged meanwhile. That is healed as after the warm-up, so it does not end the
// others.
func (w *warmUp) isRefused(p *contract.Plan) bool {
	list := w.served.bound.lists[p.Endpoint.Contract().Path]
	return list.isSuspect() && w.server.current.Load() == w.served
}

// ends reports whether no more requests are to be answered.
func (w *warmUp) ends() bool {
	if time.Since(w.began) > w.server.warmLimit {
		w.late.Store(true)
	}
	return w.late.Load() || w.failed.Load() || w.server.noWarmUp.Load() || w.server.cutWarmUp.Load()
}

// warmFilters are the requests with the first filter of an endpoint, which is that by place for
// most, and with a date.
func warmFilters(e *contract.Endpoint) []warmRequest {
	var requests []warmRequest
	for i, f := range e.Filters() {
		if i == 0 || f.Name == "start_date" {
			value := fasthttp.AppendQuotedArg(nil, []byte(f.Example()))
			requests = append(requests, warmRequest{"limit=200&" + f.Name + "=" + string(value), encode.Zstd})
		}
	}
	return requests
}

// coldPlans returns the endpoints whose table an earlier Bound does not have, in the names of the
// root, the largest first.
func (s *Server) coldPlans(b, earlier *Bound) []*contract.Plan {
	var plans []*contract.Plan
	endpoints := contract.EndpointsIn(s.mounts[0].names)
	for i := range endpoints {
		path := endpoints[i].Contract().Path
		list := b.lists[path]
		if list.rows > 0 && !list.isSuspect() && (earlier == nil || list != earlier.lists[path]) {
			plans = append(plans, contract.NewPlan(&endpoints[i], contract.Rows))
		}
	}
	slices.SortStableFunc(plans, func(x, y *contract.Plan) int {
		return cmp.Compare(b.lists[y.Endpoint.Contract().Path].rows, b.lists[x.Endpoint.Contract().Path].rows)
	})
	return plans
}

// rehearse answers a request from a snapshot that need not be served yet, as list does once it has
// checked it. Identifier, limits, caches and counters are left out, and the answer is discarded.
// Its body is in the buffer.
func (s *Server) rehearse(v *served, p *contract.Plan, r warmRequest, buffer *wire.BodyBuffer) error {
	var ctx fasthttp.RequestCtx
	ctx.Init(new(fasthttp.Request), nil, s.faults)
	sc := scratches.Get().(*scratch)
	defer sc.release()
	sc.request.Scan(p, []byte(r.query))
	if err := sc.request.Parse(); err != nil {
		return err
	}
	endpoint := p.Endpoint.Contract()
	a := reply{
		scratch: sc, ctx: &ctx, endpoint: endpoint, served: v, list: v.bound.lists[endpoint.Path],
		heads: v.publication.Load().headsFor(v.bound.lists[endpoint.Path], &sc.request), coding: r.coding,
		buffer: buffer,
	}
	a.makeTag()
	if _, err := s.query(&a); err != nil {
		return err
	}
	return ctx.Response.BodyWriteTo(io.Discard)
}
