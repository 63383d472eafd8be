package list

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/nearest"
)

// maxStandardURI is the longest address: that of a page with many parameters. Power Query sends at
// most 2,048 characters.
const maxStandardURI = 8 << 10

// Standard serves lists in the form of a standard, such as OData, at the root only.
type Standard struct {
	Lists   *Lists
	Mount   *Mount // of the lists in HAPI names
	Root    string // the path of the service, which begins those of all its documents
	Private bool   // whether clients must identify themselves
	Prepare func() // is called once the routes of lists are registered
	Answer  func(ctx *fasthttp.RequestCtx) error
	FaultOf func(err error) *reply.Fault // nil for an error that is as with lists
	Fields  []string                     // header fields of all documents: names and values

	FaultType  string    // content type of errors
	FaultTexts [3]string // before the code of an error, before its text, and at the end
}

// Surface is the standard at some paths, the first part of which begins all of its own.
func (s *Standard) Surface(above string, paths ...string) Surface {
	to := Route{Name: s.Root, Answer: s.Answer, Fault: s.write, MaxURI: maxStandardURI}
	if s.Private {
		to.Identify = s.Mount
	}
	return Surface{Root: above, Fault: s.write, AtRoot: true, Add: func(m *Mount) {
		s.Prepare()
		for _, path := range paths {
			s.Lists.Routes.Add(m, path, to)
		}
	}}
}

// write writes an error in the form of the standard.
func (s *Standard) write(ctx *fasthttp.RequestCtx, err error) {
	f := s.faultOf(err)
	code := cmp.Or(f.Code, strings.ReplaceAll(fasthttp.StatusMessage(f.Status), " ", ""))
	body := render.AppendJSONText([]byte(s.FaultTexts[0]), code)
	body = append(render.AppendJSONText(append(body, s.FaultTexts[1]...), f.Text), s.FaultTexts[2]...)
	ctx.SetStatusCode(f.Status)
	ctx.SetBody(body)
	h := &ctx.Response.Header
	for i := 0; i < len(s.Fields); i += 2 {
		h.Set(s.Fields[i], s.Fields[i+1])
	}
	h.SetContentType(s.FaultType)
}

// BaseOf is the address of the service, with a slash at its end.
func (s *Standard) BaseOf(ctx *fasthttp.RequestCtx) string { return s.Lists.Pages.BaseOf(ctx) + s.Root }

// Computed answers with records that are computed of a snapshot.
func (s *Standard) Computed(ctx *fasthttp.RequestCtx, snapshot string, answer func(v *state.Served) error) error {
	admission := &s.Lists.Admission
	return admission.Pass(func() error { return s.Within(ctx, snapshot, answer) }, admission.Computed, admission.Slow)
}

// AnswerRows answers a question about rows of a list, through a view.
func (s *Standard) AnswerRows(ctx *fasthttp.RequestCtx, to Route, q *contract.Question, v *View) error {
	to.Public = true // the route of the standard asks for identifiers
	return s.Lists.Answer(ctx, &to, q, v)
}

// Described does work that takes long and needs no snapshot, with the slot for it.
func (s *Standard) Described(work func() error) error {
	return s.Lists.Admission.Pass(work, s.Lists.Admission.Slow)
}

// Within makes a part of an answer of a snapshot, of which an empty id is the current one.
func (s *Standard) Within(ctx *fasthttp.RequestCtx, snapshot string, do func(v *state.Served) error) error {
	v, err := s.Lists.State.Snapshots.AcquireIn(ctx, snapshot)
	if err != nil {
		return err
	}
	defer v.Release(s.Lists.State.Log)
	return do(v)
}

// Send answers with a document.
func (s *Standard) Send(ctx *fasthttp.RequestCtx, contentType string, c Content) error {
	fields := append(s.Lists.Pages.Fields(), s.Fields...)
	head := NewPageHead(contentType, reply.DataPolicy, reply.LandingKey, fields...)
	return s.Lists.Pages.Send(ctx, &head, c)
}

// Named is the one of some with a name. The fault names the one that was meant, or else ends as
// others says of all names.
func Named[T any](
	all []T, nameOf func(T) string, kind, name string, others func(names []string) string,
) (found T, err error) {
	names := make([]string, len(all))
	for i, one := range all {
		if names[i] = nameOf(one); names[i] == name {
			return one, nil
		}
	}
	if near := nearest.Of(strings.ReplaceAll(strings.ToLower(name), "-", "_"), names); near != "" {
		return found, NotFound("there is no %s %s; did you mean %s?", kind, Quoted(name), near)
	}
	return found, NotFound("there is no %s %s; %s", kind, Quoted(name), others(names))
}

// QueryAll is Query for all records that are computed, page by page.
func (s *Standard) QueryAll(v *state.Served, q *contract.Question, read func(Valued)) error {
	q = q.Copy()
	for offset, total := 0, 1; offset < total; offset += contract.MaxLimit {
		err := s.Lists.Query(v, s.Mount, q.Page(offset, contract.MaxLimit), func(_ *Reply, found Records) error {
			read(found.(Valued))
			total = found.Total()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RowOf is the version of a list's table and the row that a key names (render.RowKeyField). The
// error says that the version is not held any longer, or what is missing.
func (s *Standard) RowOf(e *contract.Endpoint, key, missing string) (version string, row uint64, err error) {
	none := NotFound("%s %s", missing, Quoted(key))
	at := strings.LastIndexByte(key, '-')
	if at <= 0 || len(key)-at-1 != render.RowKeyDigits {
		return "", 0, none
	}
	if row, err = strconv.ParseUint(key[at+1:], 10, 64); err != nil || row > math.MaxUint32 {
		return "", 0, none
	}
	path := e.Contract().Path
	v := s.Lists.State.Snapshots.AcquireVersion(path, key[:at])
	if v == nil {
		return "", 0, &reply.Gone{Current: s.Lists.State.Snapshots.CurrentID()}
	}
	defer v.Release(s.Lists.State.Log)
	if row >= uint64(v.Bound.Lists[path].Rows) {
		return "", 0, none
	}
	return key[:at], row, nil
}

// SetPolicy sets what caches may do with an answer that has addresses in it. What differs by Accept
// or Prefer alone is not kept, so that no cache must tell answers apart by them: others are the
// same for all clients.
func (s *Standard) SetPolicy(h *fasthttp.ResponseHeader, varies bool) {
	switch {
	case varies:
		h.Set("Cache-Control", reply.NoStore)
	case s.Lists.State.Options.BaseURL == "", s.Private:
		// Addresses in the body are those of the host that was asked; or not everybody may have it.
		h.Set("Cache-Control", "private, max-age=60")
	default:
		return
	}
	h.Del("CDN-Cache-Control")
}

// Faultf is a fault with a text as of fmt.Sprintf. Bytes of a request that are no UTF-8 would make
// the answer no JSON.
func Faultf(status int, format string, args ...any) *reply.Fault {
	return &reply.Fault{Status: status, Text: strings.ToValidUTF8(fmt.Sprintf(format, args...), "\uFFFD")}
}

// Quoted is a text of a request as faults name it.
func Quoted(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return `"` + text + `"`
}

// faultOf is an error in the words of the standard.
func (s *Standard) faultOf(err error) *reply.Fault {
	if f := s.FaultOf(err); f != nil {
		return f
	}
	if _, is := errors.AsType[*reply.Gone](err); is {
		return Faultf(fasthttp.StatusGone, "The data was replaced since the first page, and what this page "+
			"would be of is not held any longer. Begin again with the first page: a page of the new data would "+
			"mix two states.")
	}
	return reply.FaultOf(err)
}

// NotFound is a fault of an address that there is not.
func NotFound(format string, args ...any) *reply.Fault {
	return Faultf(fasthttp.StatusNotFound, format, args...)
}
