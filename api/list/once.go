package list

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// What services have in common that serve lists in other forms.

// MountIn is the first mount with a set of names.
func (s *Lists) MountIn(names contract.NameSet) *Mount {
	return s.Routes.Mounts[slices.IndexFunc(s.Routes.Mounts, func(m *Mount) bool { return m.Names == names })]
}

// Fault is an error that is the caller's: its status, and what is wrong in words.
type Fault struct {
	Status     int
	Code, Text string
}

func (f *Fault) Error() string { return f.Text }

// Faultf is a fault with a text as of fmt.Sprintf. Bytes of a request that are no UTF-8 would make
// the answer no JSON.
func Faultf(status int, code, format string, args ...any) *Fault {
	return &Fault{status, code, strings.ToValidUTF8(fmt.Sprintf(format, args...), "\uFFFD")}
}

// Quoted is a text of a request as faults name it.
func Quoted(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return `"` + text + `"`
}

// FaultOf is an error of lists as a fault.
func FaultOf(err error) *Fault {
	if f, is := errors.AsType[*Fault](err); is {
		return f
	}
	status, body := reply.ErrorAnswer(err)
	f := FaultOfBody(status, string(body))
	if _, is := errors.AsType[*reply.Gone](err); is {
		f.Text = "The data was replaced since the first page, and what this page would be of " +
			"is not held any longer. Begin again with the first page: a page of the new data would mix two states."
	}
	return f
}

// FaultOfBody is a fault whose body is that of lists.
func FaultOfBody(status int, body string) *Fault {
	var texts struct{ Detail, Error, Hint, Rule, Table string }
	if err := json.Unmarshal([]byte(body), &texts); err != nil { // issues of parameters
		texts.Detail = body
	}
	parts := []string{texts.Detail, texts.Error, texts.Hint, texts.Rule, texts.Table}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return &Fault{status, strings.ReplaceAll(fasthttp.StatusMessage(status), " ", ""), strings.Join(parts, ": ")}
}

// onceKey is the key of what is made once. Another one is made after damage was found in any table:
// what was made before may be wrong.
type onceKey struct {
	key   any
	found int64
}

// MadeOf is what is made of lists once a snapshot. After an error the next request tries again.
func MadeOf[T any](s *Lists, v *state.Served, key any, make func() (T, error)) (T, error) {
	of := onceKey{key: key, found: int64(len(v.Bound.RefusedTables()))} // one may be refused just now
	for i := range s.State.Inspector.Found {
		of.found += s.State.Inspector.Found[i].Load()
	}
	made := v.Keep(of, func() any { return sync.OnceValues(make) })
	t, err := made.(func() (T, error))()
	if err != nil {
		v.Kept.Delete(of)
	}
	return t, err
}

// QueryAll is Query for all records, page by page.
func (s *Lists) QueryAll(v *state.Served, to *Route, query url.Values, read func(Records)) error {
	for offset, total := 0, 1; offset < total; offset += contract.MaxLimit {
		page := url.Values{"limit": {strconv.Itoa(contract.MaxLimit)}, "offset": {strconv.Itoa(offset)}}
		for name, values := range query {
			page[name] = values
		}
		err := s.Query(v, to, page, func(_ *Reply, found Records) error {
			read(found)
			total = found.Total()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RowOf is the version of a list's table and the row that a key names (render.RowKeyField). It is
// not found if the key is of no row. The error says that the version is not held any longer.
func (s *Lists) RowOf(e *contract.Endpoint, key string) (version string, row uint64, found bool, err error) {
	at := strings.LastIndexByte(key, '-')
	if at <= 0 || len(key)-at-1 != render.RowKeyDigits {
		return "", 0, false, nil
	}
	if row, err = strconv.ParseUint(key[at+1:], 10, 64); err != nil || row > math.MaxUint32 {
		return "", 0, false, nil
	}
	path := e.Contract().Path
	v := s.State.Snapshots.AcquireVersion(path, key[:at])
	if v == nil {
		return "", 0, false, &reply.Gone{Current: s.State.Snapshots.CurrentID()}
	}
	defer v.Release(s.State.Log)
	return key[:at], row, row < uint64(v.Bound.Lists[path].Rows), nil
}

// SetPolicy sets what caches may do with an answer that has addresses in it. What differs by Accept
// or Prefer alone is not kept, so that no cache must tell answers apart by them: others are the
// same for all clients. private is an answer that not everybody may have.
func (s *Lists) SetPolicy(h *fasthttp.ResponseHeader, varies, private bool) {
	switch {
	case varies:
		h.Set("Cache-Control", reply.NoStore)
	case s.State.Options.BaseURL == "", private:
		// Addresses in the body are those of the host that was asked; or not everybody may have it.
		h.Set("Cache-Control", "private, max-age=60")
	default:
		return
	}
	h.Del("CDN-Cache-Control")
}
