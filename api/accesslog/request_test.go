package accesslog_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestAccessLog checks the line of each kind of request.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	l, read := apitest.OpenAccessLog(t)
	s := apitest.Server(t, state.Options{AccessLog: l},
		append(apitest.SampleTables(t, 30)[:0], apitest.Locations(10_000, nil)))
	address := apitest.Listen(t, s)
	words := strings.NewReplacer("LIST", "/api/v2/metadata/location?app_identifier="+apitest.Identifier,
		"NONE", "/api/v2/metadata/location", "IDENTIFIER", apitest.Identifier,
		"ESCAPED", strings.ReplaceAll(apitest.Identifier, "=", "%3D"))
	for _, c := range testkit.Cases(t, "testdata/requests.txt", " | ", 3) {
		request := words.Replace(c[0])
		method, _, isRequest := strings.Cut(request, " ")
		if isRequest {
			request += " HTTP/1.1\r\nHost: a"
		}
		if c[1] != "" {
			request += "\r\n" + c[1]
		}
		var want apitest.Logged
		testkit.Must(t, json.Unmarshal([]byte(c[2]), &want))
		before := len(read())
		answer := apitest.Exchange(t, address, method, request+"\r\n\r\n")
		testkit.WaitFor(t, "the line", func() bool { return len(read()) > before })
		got := read()[before]
		if len(answer.Body) > 0 && *got.Bytes != int64(len(answer.Body)) && got.Coding == "" || *got.Took < 0 {
			t.Errorf("%q: %d µs, %d bytes logged, %d received", c, *got.Took, *got.Bytes, len(answer.Body))
		}
		if (got.App == "") != (want.App == "none") || got.App != "" && len(got.App) != 16 {
			t.Errorf("%q: application %q", c, got.App)
		}
		want.ID, _ = apitest.Field(answer, reply.HeaderRequestID)
		want.At, want.App, want.Took = got.At, got.App, got.Took
		if want.Bytes == nil {
			want.Bytes = got.Bytes
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n%+v, want\n%+v", c, got, want)
		}
	}
	testkit.Equal(t, s.State.Options.AccessLog.Dropped(), 0, "lines dropped")
}

func TestMain(m *testing.M) { apitest.Main(m) }
