package list

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// Mount is a prefix of paths below which the interface is served, and the names that it has there.
type Mount struct {
	Prefix      string // empty at the root
	Names       contract.NameSet
	MadeUp      bool   // the figures are, so pages say it
	BaseURL     string // address of the service, empty if it is not known
	Counterpart *Mount // the one with the other names
	help        string // for requests without a good identifier
	Paths       []string
	Kinds       []contract.Kind // of what is computed of lists
	Lists       ListRoutes      // of lists, what is computed of them, and figures
	TakesTurns  bool            // long computations of Query take turns with those of requests
}

// NewMounts returns the mounts of a server. HAPI names always have their prefix too. The root is
// the first.
func NewMounts(o *state.Options, kinds []contract.Kind) []*Mount {
	root := o.Names
	mounts := []*Mount{{Names: root}, {Prefix: contract.HAPIPrefix, Names: contract.HAPINames}}
	if root != contract.ContractNames {
		mounts = append(mounts, &Mount{Prefix: contract.ContractPrefix, Names: contract.ContractNames})
	}
	for _, m := range mounts {
		m.Lists, m.MadeUp, m.BaseURL, m.Kinds = ListRoutes{}, o.MadeUp, o.BaseURL, kinds
		m.Counterpart = mounts[slices.IndexFunc(mounts, func(o *Mount) bool { return o.Names != m.Names })]
		m.help = contract.IdentifierHelp(m.Names, m.Prefix)
	}
	return mounts
}

// AllDescribed is the path, below the prefix, of the description of everything.
func (m *Mount) AllDescribed() string {
	if m.Names == contract.HAPINames {
		return contract.DescriptionOfAll
	}
	return "/openapi.json"
}

// MountOf returns the mount of a path.
func (r *Routes) MountOf(path string) *Mount {
	for _, m := range r.Mounts[1:] {
		if rest, ok := strings.CutPrefix(path, m.Prefix); ok && (rest == "" || rest[0] == '/') {
			return m
		}
	}
	return r.Mounts[0]
}

// Surface is a form in which a server answers.
type Surface struct {
	Add    func(m *Mount) // registers its paths below a mount
	AtRoot bool           // it is below the first mount only

	// Fault, if set, writes errors in the form of the surface, over those of lists. Errors that are
	// found before a route is chosen are those of the surface whose Root begins the path.
	Root  string // without a slash at its end
	Fault func(ctx *fasthttp.RequestCtx, err error)
}

// Route is what answers a path: a list endpoint, or something else.
type Route struct {
	Mount        *Mount
	List         func() *contract.Plan // made when it is first asked for
	RecordSource *RecordSource         // of a list that is not of rows
	Public       bool                  // a list that needs no identifier

	// Of what is no list.
	Answer   func(*fasthttp.RequestCtx) error          // returns the error to answer with
	Fault    func(ctx *fasthttp.RequestCtx, err error) // that of its surface
	Gates    []*wire.Gate                              // whose slots it takes one after the other
	Identify *Mount                                    // by whose rules clients identify themselves, nil for nobody
	Post     bool                                      // any method is answered, POST too
	MaxURI   int                                       // longest address; 0 for that of pages

	Name     string // in metrics: the same for all paths of one thing
	endpoint int    // position in Routes.Endpoints
}

// Routes are what a server answers.
type Routes struct {
	state         *state.State
	identifiers   *Identifiers
	admission     *Admission
	answer        func(ctx *fasthttp.RequestCtx, to *Route) error // of lists
	routers       map[string]*router.Router                       // by what trunkOf returns
	Mounts        []*Mount
	RecordSources []*RecordSource
	sources       map[contract.Kind]*RecordSource // and that of figures
	Endpoints     []string                        // names of endpoints in metrics
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

// ComputedKinds returns the last parts of the paths of RecordSources.
func (r *Routes) ComputedKinds() []string {
	kinds := make([]string, len(r.RecordSources))
	for i, c := range r.RecordSources {
		kinds[i] = c.Kind.String()
	}
	return kinds
}

// otherEndpoint is the position in Routes.Endpoints for requests for unknown paths, and for those
// that could not be read.
const otherEndpoint = 0

// endpointOf returns the position of a name in Routes.Endpoints. Once the metrics exist, no name is
// added.
func (r *Routes) endpointOf(name string) int {
	at := slices.Index(r.Endpoints, name)
	switch {
	case at >= 0:
		return at
	case r.state.Requests != nil:
		return otherEndpoint
	}
	r.Endpoints = append(r.Endpoints, name)
	return len(r.Endpoints) - 1
}

// Add registers a path below a mount. A list checks the identifier and the method itself.
func (r *Routes) Add(m *Mount, path string, to Route) {
	to.Mount, to.endpoint = m, r.endpointOf(to.Name)
	path = m.Prefix + path
	answer := r.answer
	if to.List == nil {
		answer = func(ctx *fasthttp.RequestCtx, to *Route) error { return r.answerOther(ctx, to, path) }
	}
	r.handle(path, func(ctx *fasthttp.RequestCtx) {
		LogOf(ctx).noteRoute(&to)
		if err := answer(ctx, &to); err != nil {
			r.admission.AnswerFailed(ctx, err)
			if to.Fault != nil {
				to.Fault(ctx, err) // also where the path is written in another way than that of the surface
			}
		}
	})
	if to.RecordSource == nil && !strings.HasSuffix(path, Wildcard) { // see nearestPath
		m.Paths = append(m.Paths, path)
	}
}

// answerOther answers a request for what is no list.
func (r *Routes) answerOther(ctx *fasthttp.RequestCtx, to *Route, path string) error {
	if to.Name != contract.EncodePath && len(ctx.Request.Header.RequestURI()) > cmp.Or(to.MaxURI, maxPageURI) {
		return reply.ErrURITooLong
	}
	if err := r.Identify(ctx, path); err != nil {
		return err
	}
	if !to.Post && !ctx.IsGet() && !ctx.IsHead() {
		return reply.ErrMethodNotAllowed
	}
	if to.Identify != nil {
		if err := r.identifiers.Check(ctx, to.Identify, contract.QueryIdentifier(ctx.URI().QueryString())); err != nil {
			return err
		}
	}
	if to.Gates == nil {
		return to.Answer(ctx)
	}
	return r.admission.Pass(func() error { return to.Answer(ctx) }, to.Gates...)
}

// maxPageURI is the longest accepted address of what is no list. A page repeats its address in its
// links: some hundreds of them.
const maxPageURI = 2 << 10

// ListRoutes are the routes of lists.
type ListRoutes map[contract.PlanKey]Route

func planOf(k contract.PlanKey) func() *contract.Plan {
	return sync.OnceValue(func() *contract.Plan { return contract.PlanOf(k.Endpoint, k.Kind) })
}

// AddLists registers the paths of an endpoint.
func (r *Routes) AddLists(m *Mount, e *contract.Endpoint) {
	add := func(c *RecordSource, k contract.Kind) {
		key := contract.PlanKey{Endpoint: e, Kind: k}
		to := Route{Mount: m, List: planOf(key), RecordSource: c, Name: key.Name()}
		r.sources[k] = c
		m.Lists[key] = to
		for _, path := range key.Paths() {
			r.Add(m, path, to)
		}
	}
	add(nil, contract.Rows)
	for _, c := range r.RecordSources {
		add(c, c.Kind)
	}
}

// AddComputed registers the paths of endpoints that are not of rows. Name is that in metrics.
func (r *Routes) AddComputed(m *Mount, source *RecordSource, name string, endpoints ...contract.Endpoint) {
	r.sources[source.Kind] = source
	for i := range endpoints {
		key := contract.PlanKey{Endpoint: &endpoints[i], Kind: source.Kind}
		to := Route{Mount: m, List: planOf(key), RecordSource: source, Name: name}
		m.Lists[key] = to
		for _, path := range key.Paths() {
			r.Add(m, path, to)
			m.Paths = append(m.Paths, m.Prefix+path)
		}
	}
}

// Wildcard is the rest of a path.
const Wildcard = "{rest:*}"
