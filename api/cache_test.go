package api

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"hdqs/api/state"
)

// plainBody returns the decoded body of an answer.
func plainBody(t *testing.T, a Answer) []byte {
	t.Helper()
	body, err := decodeBody(headerOf(a, "Content-Encoding"), a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestConcurrentRequests requests the same pages over many connections in all codings, and compares
// the bodies.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	rows := trials(20_000, 2_000)
	table := numberedLocations(rows, nil)
	s := testServer(t, state.Options{Queries: 64}, []*testTable{table})
	address := listen(t, s)
	var wg sync.WaitGroup
	var first atomic.Pointer[string]
	client := &http.Client{Transport: &http.Transport{
		DisableCompression: true, MaxConnsPerHost: 32,
		MaxIdleConnsPerHost: 32,
	}}
	for worker := range 24 {
		wg.Go(func() {
			for turn := range 15 {
				k := (worker + turn) % 3
				target := fmt.Sprintf("http://%s/api/v2/metadata/location?app_identifier=%s&offset=%d", address, goodIdentifier, rows/4*(turn%2))
				request, _ := http.NewRequest("GET", target, nil)
				coding := []string{"identity", "gzip", "zstd"}[k]
				request.Header.Set("Accept-Encoding", coding)
				response, err := client.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				sent, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != 200 {
					t.Errorf("status %d, %v", response.StatusCode, err)
					return
				}
				body, err := decodeBody(response.Header.Get("Content-Encoding"), sent)
				if err != nil {
					t.Error(err)
					return
				}
				text := string(body)
				if turn%2 == 0 && !first.CompareAndSwap(nil, &text) && *first.Load() != text {
					t.Errorf("%s: got a different body of %d bytes", coding, len(text))
				}
			}
		})
	}
	wg.Wait()
	waitFor(t, "all bytes in flight to be sent", func() bool { return s.Budget.Bytes() == 0 })
}
