package list

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
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/background"
)

// Much of what answers consist of is made when it is first needed: fragments, the codes of the
// encoders, lists of tuples. On one core, the requests of the first second after a start or a swap
// would wait for it. So each endpoint answers a few typical requests from a new snapshot, and the
// answers are discarded: before a swap, and at a start before /readyz says yes.

// WarmRequests are what every endpoint answers. They need whatever is made once for a table: the
// fragments of its first page, and the first codes and the choice of encoder for compressed pages.
// Those are made from rows all over the table, so most of its other fragments are made too.
var WarmRequests = []warmRequest{
	{"limit=200", encode.Gzip},
	{"output_format=csv&limit=200", encode.Gzip},
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

// Warm answers the warm-up requests from a snapshot, for the tables that have changed since an
// earlier one, the largest first. The earlier Bound may be nil. An error or a panic means that the
// snapshot cannot be served.
//
// At a swap it uses one goroutine, since requests need the other cores. At a start it uses all.
func (s *Lists) Warm(v *state.Served, earlier *state.Bound) error {
	if s.State.Options.SkipWarmUp {
		return nil
	}
	w := WarmUp{Server: s, Served: v, Began: time.Now(), Plans: s.Routes.ColdPlans(v.Bound, earlier)}
	var err error
	if earlier != nil {
		err = w.Work() // on the thread of the caller, which has a low priority
	} else {
		err = w.workOnAll()
	}
	took := time.Since(w.Began)
	v.WarmUp.Store(&state.WarmUp{Requests: int(w.Answered.Load()), Took: took})
	if w.late.Load() {
		s.State.Log.Warn("warming up took too long; the first requests will be slower", "requests", w.Answered.Load(),
			"took", took.Round(time.Millisecond))
	}
	return err
}

// WarmUp is a warm-up that runs.
type WarmUp struct {
	Server   *Lists
	Served   *state.Served
	Began    time.Time
	Plans    []*contract.Plan
	Next     atomic.Int64 // of plans
	Answered atomic.Int64
	late     atomic.Bool // it took too long
	failed   atomic.Bool
}

// workOnAll is work on all cores, in threads of a low priority: the first requests may come
// meanwhile.
func (w *WarmUp) workOnAll() error {
	workers := runtime.GOMAXPROCS(0) // read before More raises it by one, for the requests
	defer background.More()()
	var group errgroup.Group
	for range workers {
		group.Go(func() (err error) {
			background.Run(func() { err = w.Work() })
			return err
		})
	}
	return group.Wait()
}

// Work answers the requests of one endpoint after the other, until none is left.
func (w *WarmUp) Work() (err error) {
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
		i := int(w.Next.Add(1)) - 1
		if i >= len(w.Plans) {
			return nil
		}
		p := w.Plans[i]
		for _, r := range slices.Concat(WarmRequests, WarmFilters(p.Endpoint)) {
			if w.ends() {
				return nil
			}
			if err := w.rehearse(p, r, buffer); err != nil {
				return fmt.Errorf("api: warming up %s?%s: %w", p.Endpoint.Path, r.query, err)
			}
			w.Answered.Add(1)
			runtime.Gosched() // on one core, requests and the garbage collector wait for this goroutine
		}
	}
}

// ends reports whether no more requests are to be answered.
func (w *WarmUp) ends() bool {
	if time.Since(w.Began) > w.Server.WarmLimit {
		w.late.Store(true)
	}
	return w.late.Load() || w.failed.Load() || w.Server.State.NoWarmUp.Load() || w.Server.State.CutWarmUp.Load()
}

// WarmFilters are the requests with the first filter of an endpoint, which is that by place for
// most, and with a date.
func WarmFilters(e *contract.Endpoint) []warmRequest {
	var requests []warmRequest
	for i, f := range e.Filters() {
		if i == 0 || f.Name == "start_date" {
			value := fasthttp.AppendQuotedArg(nil, []byte(f.Example()))
			requests = append(requests, warmRequest{"limit=200&" + f.Name + "=" + string(value), encode.Gzip})
		}
	}
	return requests
}

// ColdPlans returns the endpoints whose table an earlier Bound does not have, in the names of the
// root, the largest first.
func (r *Routes) ColdPlans(b, earlier *state.Bound) []*contract.Plan {
	var plans []*contract.Plan
	endpoints := contract.EndpointsIn(r.Mounts[0].Names)
	for i := range endpoints {
		path := endpoints[i].Contract().Path
		list := b.Lists[path]
		if list.Rows > 0 && (earlier == nil || list != earlier.Lists[path]) {
			plans = append(plans, contract.PlanOf(&endpoints[i], contract.Rows))
		}
	}
	slices.SortStableFunc(plans, func(x, y *contract.Plan) int {
		return cmp.Compare(b.Lists[y.Endpoint.Contract().Path].Rows, b.Lists[x.Endpoint.Contract().Path].Rows)
	})
	return plans
}

// rehearse answers a request from a snapshot that need not be served yet, as list does once it has
// checked it. Identifier, limits, caches and counters are left out, and the answer is discarded.
// Its body is in the buffer.
func (w *WarmUp) rehearse(p *contract.Plan, r warmRequest, buffer *wire.BodyBuffer) error {
	s, v := w.Server, w.Served
	var ctx fasthttp.RequestCtx
	ctx.Init(new(fasthttp.Request), nil, s.State.Faults)
	sc := scratches.Get().(*Scratch)
	defer sc.Release()
	sc.Request.Scanned.Scan(p, []byte(r.query))
	if err := sc.Request.Parse(); err != nil {
		return err
	}
	endpoint := p.Endpoint.Contract()
	a := &sc.reply
	*a = Reply{
		Scratch: sc, Ctx: &ctx, Endpoint: endpoint, Served: v, List: v.Bound.Lists[endpoint.Path],
		heads: v.Publication.Load().HeadsFor(v.Bound.Lists[endpoint.Path], &sc.Request), Coding: r.coding,
		buffer: buffer,
	}
	err := s.makeTag(a)
	if err == nil {
		_, err = s.render(a)
	}
	if err != nil {
		return err
	}
	return ctx.Response.BodyWriteTo(io.Discard)
}
