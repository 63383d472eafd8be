package main_test

import (
	"strings"
	"testing"
)

// TestBounds gives flags values that would crash the program or disable it. Each is refused with
// the flag's name, the value and the bounds.
func TestBounds(t *testing.T) {
	serve := []string{"serve", "--listen", "127.0.0.1:99999"}
	gc := []string{"gc", "--store", t.TempDir()}
	build := []string{"build", "--catalog", "https://catalog.example", "--store", t.TempDir(), "--data-dir", t.TempDir()}
	for _, c := range []struct {
		command           []string
		flag, value, want string
	}{
		{serve, "--max-queries", "-1", "want 0 to 16777216"},
		{serve, "--max-queries", "9223372036854775807", "want 0 to 16777216"},
		{serve, "--max-inflight-bytes", "-1", "want 0 or more"},
		{serve, "--body-cache", "-1", "want 0 or more"},
		{serve, "--max-connections", "-1", "want 0 to 16777216"},
		{serve, "--max-connections", "99999999999", "want 0 to 16777216"},
		{serve, "--snapshot-poll", "-1s", "want 0, or 10ms to 87600h0m0s"},
		{serve, "--snapshot-poll", "1ns", "want 0, or 10ms to 87600h0m0s"},
		{serve, "--snapshot-poll", "2000000h", "want 0, or 10ms to 87600h0m0s"},
		{serve, "--refresh", "-1h", "want 0, or 10ms to 87600h0m0s"},
		{serve, "--refresh", "2000000h", "want 0, or 10ms to 87600h0m0s"},
		{serve, "--queue-wait", "-1s", "want 0s to 24h0m0s"},
		{serve, "--queue-wait", "2000000h", "want 0s to 24h0m0s"},
		{serve, "--shutdown-delay", "-1s", "want 0s to 24h0m0s"},
		{serve, "--drain-timeout", "-1s", "want 0s to 24h0m0s"},
		{serve, "--max-age", "-1s", "want 0s to 87600h0m0s"},
		{serve, "--s-maxage", "2000000h", "want 0s to 87600h0m0s"},
		{serve, "--stale-while-revalidate", "-1s", "want 0s to 87600h0m0s"},
		{serve, "--stale-if-error", "-1s", "want 0s to 87600h0m0s"},
		{serve, "--keep-previous", "-1s", "want 0s to 87600h0m0s"},
		{serve, "--names", "hdx", "want contract or hapi"},
		{serve, "--base-url", "data.example.org", "want http or https and a host"},
		{serve, "--base-url", "https://:443", "want http or https and a host"},
		{serve, "--base-url", "https://data.example.org/?a=b", "want http or https and a host"},
		{serve, "--download-timeout", "0s", "want 1ms to 87600h0m0s"},
		{build, "--download-timeout", "-1s", "want 1ms to 87600h0m0s"},
		{build, "--max-download", "0", "want 1 or more"},
		{gc, "--keep", "-1", "want 0 to 16777216"},
		{gc, "--grace", "-1h", "want 0s to 87600h0m0s"},
	} {
		o := run(t, append(c.command, c.flag, c.value)...)
		complete := strings.Contains(o.stderr, c.flag) && strings.Contains(o.stderr, c.value) &&
			strings.Contains(o.stderr, c.want)
		if o.code != 2 || o.stdout != "" || !complete {
			t.Errorf("hdqs %s %s %s: exit code %d, %.300q; want 2 and %q",
				c.command[0], c.flag, c.value, o.code, o.stderr, c.want)
		}
	}
	o := runWith(t, []string{"HDQS_MAX_QUERIES=-1"}, "", serve...)
	if o.code != 2 || !strings.Contains(o.stderr, "HDQS_MAX_QUERIES") || !strings.Contains(o.stderr, "want 0 to") {
		t.Errorf("a variable: exit code %d, %.300q", o.code, o.stderr)
	}
}
