package load

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// foreign answers the records of list in other forms: columns and rows for a get with SQL, a bare
// list without nulls for a post, CSV if that is accepted.
func foreign(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	sql := r.URL.Query().Get("sql") + string(body)
	third := ""
	switch {
	case err != nil || !strings.HasPrefix(sql, "SELECT a, b FROM t"):
		http.Error(w, "what is "+sql+"?", http.StatusBadRequest)
		return
	case strings.HasSuffix(sql, "WHERE more"):
		third = "3"
	}
	switch {
	case r.Header.Get("Accept") == "application/csv":
		w.Header().Set("Content-Type", "application/csv")
		fmt.Fprint(w, "b,a\r\nx,1.50\r\n,2\r\n")
	case r.Method == http.MethodPost && third != "":
		fmt.Fprint(w, `[{"b":"x","a":1.5},{"a":2},{"a":3}]`)
	case r.Method == http.MethodPost:
		fmt.Fprint(w, `[{"b":"x","a":1.5},{"a":2}]`)
	default:
		fmt.Fprint(w, `{"ok":true,"rows":[[1.5,"x"],[2,null]],"truncated":false,"columns":["a","b"]}`)
	}
}

const foreignWords = `
# a comment
let table t
let which a, b

query get
get /answer?shape=rows
sql SELECT {which}
sql FROM {table}

query csv
post /answer
accept application/csv
sql SELECT {which} FROM {table}

query post
post /answer
sql SELECT {which} FROM {table}

query more
post /answer
sql SELECT {which} FROM {table} WHERE more
`

func TestTranslatedServersAreComparedLikeOthers(t *testing.T) {
	t.Parallel()
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/csv" {
			w.Header().Set("Content-Type", "text/csv; charset=utf-8")
			fmt.Fprint(w, "b,a\nx,1.50\n,2\n")
			return
		}
		list(w, r)
	}))
	defer ours.Close()
	peer := httptest.NewServer(http.HandlerFunc(foreign))
	defer peer.Close()
	for _, c := range []struct {
		query, target, words string
		same                 bool
	}{
		{"get", "/", foreignWords, true},
		{"csv", "/csv", foreignWords, true},
		{"post", "/", foreignWords, false}, // a field is missing, and absent-is-null is not set
		{"post", "/", "absent-is-null a b\n" + foreignWords, true},
		{"more", "/", "absent-is-null a b\n" + foreignWords, false},
		{"get", "/other", foreignWords, false},
	} {
		translation, err := ReadTranslation(strings.NewReader(c.words))
		if err != nil {
			t.Fatal(err)
		}
		servers := []*Server{
			{Name: "ours", URL: ours.URL},
			{Name: "packed", URL: ours.URL, Encoding: Gzip},
			{Name: "peer", URL: peer.URL, Translation: translation},
		}
		q := Query{Weight: 1, Name: c.query, Target: c.target, Status: 200}
		comparison := Comparison{
			Servers: servers, Queries: []Query{q}, Encodings: []string{Identity}, Rounds: 2,
			Burst: 20 * time.Millisecond, Connections: 2,
		}
		cells, err := comparison.Run()
		if same := err == nil; same != c.same || same && len(cells) != len(servers) {
			t.Errorf("%s of %s: %d cells, %v; want the same rows: %v", c.query, c.target, len(cells), err, c.same)
		}
		for _, cell := range cells {
			if cell.Wrong+cell.Failed > 0 || cell.PerSecond == 0 || len(cell.Rates) != 2 {
				t.Errorf("%+v", cell)
			}
		}
	}
	translation, err := ReadTranslation(strings.NewReader(foreignWords))
	if err != nil {
		t.Fatal(err)
	}
	if a := (&Server{Translation: translation}).ask(Query{Name: "unknown", Target: "/"}, Identity); a.target != "" {
		t.Errorf("a query without translation is sent to %q", a.target)
	}
}

func TestForcedCodingIsAskedFor(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case seen <- r.Header.Get("Accept-Encoding"):
		default:
		}
		list(w, r)
	}))
	defer server.Close()
	s := &Server{Name: "packed", URL: server.URL, Encoding: Gzip}
	q := Query{Weight: 1, Name: "q", Target: "/", Status: 200}
	if _, err := s.fetch(q, Identity); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(Drive{
		Queries: []Query{q}, Encoding: Identity, Connections: 1,
		Duration: 5 * time.Millisecond,
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if coding := <-seen; coding != Gzip {
			t.Errorf("requested coding %q", coding)
		}
	}
}

func TestBadTranslations(t *testing.T) {
	for _, bad := range []string{
		"", "query a", "query a\nsql x", "get /", "query a\nget x", "query a\nget /\nquery a\nget /",
		"query a\nput /", "query a\nget", "query a\nquery b\nget /",
	} {
		if _, err := ReadTranslation(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// TestEveryQuestionIsTranslated checks that the translations of peers have all queries of their
// mix.
func TestEveryQuestionIsTranslated(t *testing.T) {
	mix, err := os.Open("../mixes/peers.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer mix.Close()
	queries, err := ReadMix(mix)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../peers/datasette.txt", "../peers/roapi.txt"} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		translation, err := ReadTranslation(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, q := range queries {
			a := (&Server{Translation: translation}).ask(q, Identity)
			if a.target == "" || strings.ContainsAny(a.target+a.body, "{}") {
				t.Errorf("%s: %s is sent as %+v", name, q.Name, a)
			}
		}
		if len(translation.asks) != len(queries) {
			t.Errorf("%s translates %d queries, the mix has %d", name, len(translation.asks), len(queries))
		}
	}
}

func TestShapesOfLists(t *testing.T) {
	want, err := rowTexts("application/json", []byte(`{"data":[{"a":1,"b":null},{"a":2,"b":"x"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		` [{"b":null,"a":1.0},{"a":2,"b":"x"}]`, `{"columns":["b","a"],"rows":[[null,1],["x",2e0]],"ok":true}`,
	} {
		if rows, err := rowTexts("application/json", []byte(body), nil); err != nil ||
			strings.Join(rows, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q, %v", body, rows, err)
		}
	}
	for _, body := range []string{
		`{}`, `{"rows":[[1]]}`, `{"columns":["a"],"rows":[[1,2]]}`, `[1]`, `[{"a":1}`,
		`null`, ``,
	} {
		if rows, err := rowTexts("application/json", []byte(body), nil); err == nil {
			t.Errorf("%s: %q", body, rows)
		}
	}
}
