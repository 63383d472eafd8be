package list

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/reply"
)

// Route is what answers a path: a list endpoint, or a handler.
type Route struct {
	Mount        *Mount
	List         *contract.Plan
	RecordSource *RecordSource // of a list that is not of rows
	Public       bool          // a list that needs no identifier
	Handler      fasthttp.RequestHandler
	Post         bool   // the handler answers any method, POST too
	MaxURI       int    // longest address of what is no list; 0 for that of pages
	Name         string // in metrics: the same for all paths of one thing
	endpoint     int    // position in Server.endpoints
}

// Routes are what a server answers.
type Routes struct {
	routers       map[string]*router.Router // by what trunkOf returns
	Mounts        []*Mount
	RecordSources []*RecordSource
	Endpoints     []string // names of endpoints in metrics
}

func newRoutes(mounts []*Mount) Routes {
	return Routes{routers: map[string]*router.Router{}, Mounts: mounts, Endpoints: []string{"other"}}
}

// HandlerOf returns the handler of a path, nil for an unknown one.
func (r *Routes) HandlerOf(path string) fasthttp.RequestHandler {
	if at := r.routers[r.trunkOf(path)]; at != nil {
		handler, _ := at.Lookup(fasthttp.MethodGet, path, nil)
		return handler
	}
	return nil
}

// trunkOf is a path up to the end of its first part below its mount. Each has a router of its own:
// one that gets a route sorts all that it has, so that one for all would take longer to fill than
// the rest of a server.
func (r *Routes) trunkOf(path string) string {
	end := min(len(r.MountOf(path).Prefix)+1, len(path)) // with a slash
	if at := strings.IndexByte(path[end:], '/'); at >= 0 {
		return path[:end+at]
	}
	return path
}

// handle registers the handler of a path.
func (r *Routes) handle(path string, handler fasthttp.RequestHandler) {
	trunk := r.trunkOf(path)
	if r.routers[trunk] == nil {
		r.routers[trunk] = router.New()
	}
	r.routers[trunk].ANY(path, handler)
}

// ComputedKinds returns the last parts of the paths of recordSources.
func (r *Routes) ComputedKinds() []string {
	kinds := make([]string, len(r.RecordSources))
	for i, c := range r.RecordSources {
		kinds[i] = c.Kind.String()
	}
	return kinds
}

// otherEndpoint is the position in Server.endpoints for requests for unknown paths, and for those
// that could not be read.
const otherEndpoint = 0

// endpointOf returns the position of a name in Server.endpoints. Once the metrics exist, none is
// added.
func (s *Lists) endpointOf(name string) int {
	at := slices.Index(s.Routes.Endpoints, name)
	switch {
	case at >= 0:
		return at
	case s.State.Requests != nil:
		return otherEndpoint
	}
	s.Routes.Endpoints = append(s.Routes.Endpoints, name)
	return len(s.Routes.Endpoints) - 1
}

// Add registers a path below a mount. A list checks the identifier and the method itself.
func (s *Lists) Add(m *Mount, path string, r Route) {
	r.Mount, r.endpoint = m, s.endpointOf(r.Name)
	path = m.Prefix + path
	handler := func(ctx *fasthttp.RequestCtx) {
		LogOf(ctx).noteRoute(&r)
		s.AnswerList(ctx, &r)
	}
	if r.List == nil {
		handler = func(ctx *fasthttp.RequestCtx) {
			LogOf(ctx).noteRoute(&r)
			switch {
			case r.Name != contract.EncodePath && len(ctx.Request.Header.RequestURI()) > cmp.Or(r.MaxURI, maxPageURI):
				s.State.AnswerFault(ctx, fasthttp.StatusRequestURITooLong, reply.BodyURITooLong)
			case !s.Identified(ctx, path):
			case !r.Post && !ctx.IsGet() && !ctx.IsHead():
				s.State.AnswerError(ctx, reply.ErrMethodNotAllowed)
			default:
				r.Handler(ctx)
			}
		}
	}
	s.Routes.handle(path, handler)
	if r.RecordSource == nil && !strings.HasSuffix(path, Wildcard) { // see nearestPath
		m.Paths = append(m.Paths, path)
	}
}

// maxPageURI is the longest accepted address of what is no list. A page repeats its address in its
// links: some hundreds of them.
const maxPageURI = 2 << 10

// ListKey names what a list route answers.
type ListKey struct {
	Endpoint *contract.Endpoint
	Kind     contract.Kind
}

// AddLists registers the paths of an endpoint.
func (s *Lists) AddLists(m *Mount, e *contract.Endpoint) {
	add := func(c *RecordSource, k contract.Kind) {
		plan := contract.NewPlan(e, k)
		to := Route{Mount: m, List: plan, RecordSource: c, Name: plan.Name()}
		m.Lists[ListKey{e, k}] = to
		for _, path := range plan.Paths() {
			s.Add(m, path, to)
		}
	}
	add(nil, contract.Rows)
	for _, c := range s.Routes.RecordSources {
		add(c, c.Kind)
	}
}

// AddFigures registers the paths of the headline figures.
func (s *Lists) AddFigures(m *Mount, source *RecordSource) {
	endpoints := contract.FigureEndpoints(m.Names)
	for i := range endpoints {
		plan := contract.NewPlan(&endpoints[i], source.Kind)
		to := Route{Mount: m, List: plan, RecordSource: source, Name: contract.FiguresPath}
		m.Lists[ListKey{&endpoints[i], source.Kind}] = to
		for _, path := range plan.Paths() {
			s.Add(m, path, to)
			m.Paths = append(m.Paths, m.Prefix+path)
		}
	}
}

// Wildcard is the rest of a path.
const Wildcard = "{rest:*}"
