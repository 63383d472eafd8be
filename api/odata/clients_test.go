package odata_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// clientsTarget is the variable with the address that a process of clients asks for.
const clientsTarget = "HDQS_BENCH_CLIENTS_TARGET"

// runClients is the process of clients of BenchmarkListsBesideOData: in the process of the server
// they would share its goroutines. They end with the standard input. The exit code is 1 if an
// answer was no success.
func runClients(target string) (code int) {
	var ended, failed atomic.Bool
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			c := &http.Client{Transport: &http.Transport{}}
			for !ended.Load() {
				time.Sleep(50 * time.Millisecond)
				if status := statusOf(c, target); status != 200 && !failed.Swap(true) {
					fmt.Fprintf(os.Stderr, "%.80s has the status %d\n", target, status)
				}
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	ended.Store(true)
	clients.Wait()
	if failed.Load() {
		return 1
	}
	return 0
}

// statusOf asks for an address, and reads the answer.
func statusOf(c *http.Client, address string) int {
	r, err := c.Get(address)
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	_, _ = io.Copy(io.Discard, r.Body)
	return r.StatusCode
}
