package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdqs/api/contract"
)

// identifier is sent with each request.
var identifier, _ = contract.EncodeIdentifier("hdqs-drill", "drill@example.org")

// request is a list query in one coding.
type request struct {
	path, coding string
}

// expected is the answer of one snapshot to a request.
type expected struct {
	sent, plain [sha256.Size]byte // digests of the body as sent and without its coding
	total, form string            // X-Total-Count, Content-Type
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// makeRequests returns pages of every endpoint, as JSON and CSV, in all codings.
func makeRequests() []request {
	codings := []string{"", "gzip", "zstd"}
	var all []request
	add := func(path, query string) {
		all = append(all, request{path + "?" + query, codings[(len(all)+len(all)/3)%3]})
	}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		add(e.Path, "limit=100")
		add(e.Path, "limit=300&offset=20")
		add(e.Path, "limit=100&output_format=csv")
		if has(e, "location_code") {
			add(e.Path, "location_code=AFG&limit=200")
			add(e.Path, "location_code=ETH&limit=50&offset=5")
		}
		if has(e, "start_date") {
			add(e.Path, "start_date=2024-06-01&end_date=2025-12-31&limit=100")
		}
	}
	return all
}

// newClient makes a client with a number of connections that follows no redirects and asks for no
// coding by itself.
func newClient(connections int) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DisableCompression: true, MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       30 * time.Second,
	}
}

func ask(ctx context.Context, client *http.Client, base string, r request) (a answer, err error) {
	joint := "?"
	if strings.Contains(r.path, "?") {
		joint = "&"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+r.path+joint+"app_identifier="+identifier, nil)
	if err != nil {
		return a, err
	}
	if r.coding != "" {
		req.Header.Set("Accept-Encoding", r.coding)
	}
	res, err := client.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	a.body, err = io.ReadAll(res.Body)
	return a, err
}

// plain returns the body without its coding.
func (a *answer) plain() ([]byte, error) {
	switch coding := a.header.Get("Content-Encoding"); coding {
	case "":
		return a.body, nil
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(a.body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(a.body), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return io.ReadAll(z)
	default:
		return nil, fmt.Errorf("coding %q was not asked for", coding)
	}
}

// patientFlags are those of a replica that looks at its store only on SIGHUP, and
// turns no request away on a busy machine.
func patientFlags(more ...string) []string {
	return append([]string{"--snapshot-poll", "1h", "--queue-wait", "20s"}, more...)
}

// learn asks a server that serves only this snapshot for its answers.
func (data *dataset) learn(ctx context.Context, d *drill, r *release) error {
	if err := showIn(data.store, r); err != nil {
		return err
	}
	s, err := d.serve(ctx, serving{args: patientFlags("--store", data.store)})
	if err != nil {
		return err
	}
	defer s.kill()
	client := newClient(1)
	defer client.CloseIdleConnections()
	for _, q := range data.requests {
		a, err := ask(ctx, client, s.public, q)
		if err != nil {
			return err
		}
		plain, err := a.plain()
		if err != nil || a.status != http.StatusOK || a.header.Get("X-Snapshot-Id") != r.id {
			return fmt.Errorf("%s from snapshot %s: status %d from snapshot %q, %w: %.200s",
				q.path, r.id, a.status, a.header.Get("X-Snapshot-Id"), err, a.body)
		}
		r.answers = append(r.answers, expected{
			sent: sha256.Sum256(a.body), plain: sha256.Sum256(plain),
			total: a.header.Get("X-Total-Count"), form: a.header.Get("Content-Type"),
		})
	}
	return nil
}

// verdict is what is wrong with an answer.
type verdict int

const (
	good   verdict = iota
	wrong          // a 200 with other rows than the snapshot that it names has
	failed         // no answer, or another status
)

// judge compares an answer with what the snapshot that it names must say.
func (data *dataset) judge(n int, a answer, err error) (v verdict, what string) {
	q := data.requests[n]
	switch {
	case err != nil:
		return failed, fmt.Sprintf("%s: %v", q.path, err)
	case a.status != http.StatusOK:
		return failed, fmt.Sprintf("%s: status %d: %.200s", q.path, a.status, a.body)
	}
	id := a.header.Get("X-Snapshot-Id")
	at := slices.IndexFunc(data.releases, func(r *release) bool { return r.id == id })
	if at < 0 {
		return wrong, fmt.Sprintf("%s: from an unknown snapshot %q", q.path, id)
	}
	want := &data.releases[at].answers[n]
	if a.header.Get("X-Total-Count") != want.total || a.header.Get("Content-Type") != want.form {
		return wrong, fmt.Sprintf("%s: %s rows of %s, want %s of %s",
			q.path, a.header.Get("X-Total-Count"), a.header.Get("Content-Type"), want.total, want.form)
	}
	if sha256.Sum256(a.body) == want.sent {
		return good, ""
	}
	plain, err := a.plain() // the same content may have been compressed in another way
	if err != nil || sha256.Sum256(plain) != want.plain {
		return wrong, fmt.Sprintf("%s: another body than snapshot %s has (%v): %.200s", q.path, id, err, plain)
	}
	return good, ""
}

// has reports whether an endpoint has a parameter.
func has(e *contract.Endpoint, name string) bool {
	is := func(p contract.Param) bool { return p.Name == name }
	return slices.ContainsFunc(e.Place, is) || slices.ContainsFunc(e.Params, is)
}
