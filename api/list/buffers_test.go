package list_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestReusedBuffers requests answers of many lengths and codings, pipelined and on several
// connections at once, by clients that read at different speeds. Every body must arrive unchanged,
// whichever connection used its buffer before.
func TestReusedBuffers(t *testing.T) {
	t.Parallel()
	s := apitest.SampleOf(t, state.Options{CacheBytes: -1},
		"/api/v2/metadata/sector", 3000)
	address := apitest.ListenSmall(t, s, 4<<10)
	limits := []int{0, 1, 5, 100, 127, 128, 700, 1500}
	want := map[string][]byte{}
	for _, limit := range limits {
		target := fmt.Sprintf("%s&limit=%d", apitest.Target, limit)
		want[target] = s.Answer("GET", target, nil).Body
	}
	var all sync.WaitGroup
	for client := range 12 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(client), 7))
			for range 4 {
				if err := askPipelined(r, address, limits, want); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// askPipelined sends several pipelined batches of requests over one connection and checks the
// bodies. The last request may ask to close the connection.
func askPipelined(r *rand.Rand, address string, limits []int, want map[string][]byte) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for again := true; again; again = r.IntN(3) > 0 {
		var asked []string
		var requests strings.Builder
		for more := 1 + r.IntN(4); more > 0; more-- {
			target := fmt.Sprintf("%s&limit=%d", apitest.Target, limits[r.IntN(len(limits))])
			asked = append(asked, target)
			fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n", target,
				[]string{"identity", "gzip", "zstd"}[r.IntN(3)])
			if more == 1 && r.IntN(4) == 0 {
				requests.WriteString("Connection: close\r\n")
			}
			requests.WriteString("\r\n")
		}
		if _, err := io.WriteString(conn, requests.String()); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		for i, what := range asked {
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			body, err := io.ReadAll(response.Body)
			if err == nil {
				body, err = apitest.Decode(response.Header.Get("Content-Encoding"), body)
			}
			if err != nil || !bytes.Equal(body, want[what]) {
				return fmt.Errorf("%s: received %d bytes, want %d (or the bytes differ): %v", what, len(body),
					len(want[what]), err)
			}
			if response.Close && i == len(asked)-1 {
				return nil
			}
		}
	}
	return nil
}

func TestMain(m *testing.M) { apitest.Main(m) }
