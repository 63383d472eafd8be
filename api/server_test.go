package api_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// identifierHelp is part of the answers to requests without a good identifier.
var identifierHelp = contract.IdentifierHelp(contract.ContractNames, "")

// TestLongestRequest checks that a request with every parameter at its maximum, percent-encoded, is
// accepted, and that a URI over our limit and a header over the buffer size get JSON answers.
func TestLongestRequest(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	address := apitest.Listen(t, s)
	for i := range contract.Endpoints {
		target := contract.Endpoints[i].Path + "?app_identifier=" + strings.Repeat("%20",
			512-len(apitest.Identifier)) + apitest.Identifier
		for _, p := range contract.NewPlan(&contract.Endpoints[i], contract.Rows).Params {
			switch {
			case p.Name == "app_identifier" || p.List: // 200 long values would not fit
			case contract.IsGroupParam(p.Name): // another value than a group's is refused
			case p.Type == contract.String:
				target += "&" + p.Name + "=" + strings.Repeat("%F0%9F%8C%8D", p.Max)
			default:
				target += "&" + p.Name + "=" + strings.NewReplacer(" ", "+", ",", "%2C").Replace(p.Example())
			}
		}
		if len(target) > api.MaxURI {
			t.Errorf("%s: a legal request of %d bytes is longer than the limits", contract.Endpoints[i].Path,
				len(target))
		}
		if got := apitest.Ask(t, address, "GET", target, nil); got.Status != 200 {
			t.Errorf("%s: %d %.300s", contract.Endpoints[i].Path, got.Status, got.Body)
		}
	}
	for _, length := range []int{api.MaxURI, api.ReadBuffer - 20, api.ReadBuffer, 200 << 10} {
		long := apitest.Target + "&x=" + strings.Repeat("y", length)
		want := apitest.ErrorBody(reply.ErrURITooLong)
		if got := apitest.Ask(t, address, "GET", long, nil); got.Status != 414 || string(got.Body) != want {
			t.Errorf("URI of %d bytes: %d %.100s", len(long), got.Status, got.Body)
		}
	}
	if got := apitest.Ask(t, address, "GET", apitest.Target,
		apitest.Fields("X", strings.Repeat("y", 70<<10))); got.Status != 431 ||
		string(got.Body) != apitest.ErrorBody(reply.ErrHeadersTooLarge) {
		t.Errorf("long header: %d %.100s", got.Status, got.Body)
	}
}

// TestIdentifierChangesNothing checks that successful answers are the same for all callers.
func TestIdentifierChangesNothing(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	other, _ := contract.EncodeIdentifier("another application", "you@example.com")
	for i := range contract.Endpoints {
		a := s.Answer("GET", contract.Endpoints[i].Path+"?limit=5&output_format=csv&app_identifier="+apitest.Identifier,
			nil)
		b := s.Answer("GET", contract.Endpoints[i].Path+"?app_identifier="+other+"&limit=5&output_format=csv", nil)
		c := s.Answer("GET", contract.Endpoints[i].Path+"?limit=5&output_format=csv",
			apitest.Fields(contract.ContractNames.IdentifierHeader(), other))
		for _, x := range []api.Answer{b, c} {
			if x.Status != 200 || !bytes.Equal(a.Body, x.Body) ||
				!slices.Equal(apitest.SortedHeader(a.Header), apitest.SortedHeader(x.Header)) {
				t.Errorf("%s: the answers to two callers differ", contract.Endpoints[i].Path)
			}
		}
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }

// breakingServer has two extra paths that return long uncompressed pages whose rendering panics: at
// once, and after the first part.
func breakingServer(t *testing.T, log io.Writer) *api.Server {
	t.Helper()
	s := apitest.Server(t, state.Options{Logger: slog.New(slog.NewTextHandler(log, nil))},
		[]*apitest.Table{apitest.Locations(10_000, nil)})
	p := &list.Route{Mount: s.Lists.Routes.Mounts[0], List: func() *contract.Plan {
		return apitest.Plan("/api/v2/metadata/location")
	}}
	for path, rendered := range map[string]bool{"/api/break": false, "/api/break-later": true} {
		s.Lists.Routes.Add(s.Lists.Routes.Mounts[0], path, list.Route{Answer: func(ctx *fasthttp.RequestCtx) error {
			err := s.Lists.AnswerList(ctx, p)
			body := ctx.Response.BodyStream().(*list.Stream).Body.(*list.PartBody)
			if rendered {
				body.Next()
			}
			body.Rows = render.Body{} // it has no renderer, so the next part panics
			return err
		}})
	}
	return s
}

// TestPanicInStream checks a panic in the rendering of a long page, after its header was sent. It
// is counted and logged with its stack like a panic in a handler. It costs only that answer, which
// is cut short and closes its connection. The snapshot and the bytes in flight are released.
func TestPanicInStream(t *testing.T) {
	t.Parallel()
	var log testkit.Log
	s := breakingServer(t, &log)
	address := apitest.Listen(t, s)
	served := s.State.Snapshots.Current.Load()
	for n, path := range []string{"/api/break", "/api/break-later"} {
		conn := apitest.Dial(t, address)
		if _, err := io.WriteString(conn,
			"GET "+path+"?app_identifier="+apitest.Identifier+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if response, err := http.ReadResponse(conn.Reader, nil); err == nil {
			body, err := io.ReadAll(response.Body)
			if response.StatusCode != 200 || !errors.Is(err, io.ErrUnexpectedEOF) ||
				int64(len(body)) >= response.ContentLength {
				t.Errorf("%s: %d, %d of %d bytes, %v", path, response.StatusCode, len(body), response.ContentLength,
					err)
			}
		} else if !errors.Is(err, io.ErrUnexpectedEOF) { // the header may not have been flushed
			t.Errorf("%s: %v", path, err)
		}
		testkit.WaitFor(t, "the connection to be closed", func() bool { return s.Lists.Callers.Count() == 0 })
		if s.State.Panics.Load() != int64(n+1) {
			t.Fatalf("%s: %d panics were counted", path, s.State.Panics.Load())
		}
		refs, bytes, slots := served.Refs.Load(), s.State.Budget.Bytes(), s.Lists.Admission.Gate.Running()
		if refs != 1 || bytes != 0 ||
			slots != 0 {
			t.Errorf("%s: %d references to the snapshot, %d bytes in flight, %d slots", path, refs, bytes, slots)
		}
	}
	logged := log.String()
	if strings.Count(logged, "a request panicked") != 2 || strings.Count(logged, "AppendPart") < 2 ||
		!strings.Contains(logged, "nil pointer") || strings.Contains(logged, apitest.Identifier) {
		t.Errorf("the log is\n%s", logged)
	}
	if got := apitest.Ask(t, address, "GET", "/api/v2/metadata/location?app_identifier="+apitest.Identifier, nil); got.Status != 200 ||
		len(got.Body) < list.MinStreamed {
		t.Errorf("after that: status %d, %d bytes", got.Status, len(got.Body))
	}
}

// TestPanicWithoutNetwork checks that without a network, where no header was sent, such an answer
// is an ordinary 500.
func TestPanicWithoutNetwork(t *testing.T) {
	t.Parallel()
	var log testkit.Log
	s := breakingServer(t, &log)
	for _, path := range []string{"/api/break", "/api/break-later"} {
		if got := s.Answer("GET", path+"?app_identifier="+apitest.Identifier, nil); got.Status != 500 ||
			string(got.Body) != apitest.ErrorBody(errInternal) {
			t.Errorf("%s: %d %.200s", path, got.Status, got.Body)
		}
	}
	if s.State.Panics.Load() != 2 || s.State.Snapshots.Current.Load().Refs.Load() != 1 {
		t.Errorf("%d panics, %d references to the snapshot", s.State.Panics.Load(),
			s.State.Snapshots.Current.Load().Refs.Load())
	}
}

// brokenError panics in errors.As.
type brokenError struct{ error }

func (brokenError) As(any) bool { panic("broken") }

// TestPanicInUnread checks that a panic in the answer to an unreadable request becomes a 500 and
// does not end the process.
func TestPanicInUnread(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{}, nil)
	var ctx fasthttp.RequestCtx
	s.AnswerUnread(&ctx, brokenError{})
	status, body := ctx.Response.StatusCode(), string(ctx.Response.Body())
	if status != 500 || body != apitest.ErrorBody(errInternal) ||
		s.State.Panics.Load() != 1 {
		t.Errorf("%d %s; %d panics were counted", status, body, s.State.Panics.Load())
	}
}

// TestPanicInSwap checks that a snapshot whose binding panics is rejected with the stack trace in
// the error, and that the previous snapshot stays in service.
func TestPanicInSwap(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 3)
	err := s.State.Swap(state.Release{Snapshot: &store.Snapshot{}}) // without a manifest
	if err == nil || !strings.Contains(err.Error(), "nil pointer") || !strings.Contains(err.Error(), "bindAfter") {
		t.Errorf("%v", err)
	}
	if got := s.Answer("GET", apitest.Target, nil); got.Status != 200 ||
		s.State.Snapshots.Current.Load().Refs.Load() != 1 {
		t.Errorf("%d, %d references", got.Status, s.State.Snapshots.Current.Load().Refs.Load())
	}
}
