package testkit

import (
	"testing"

	"hdqs/internal/nginx"
)

// StartNginx starts an nginx in front of replicas and returns its address. It uses the
// files in deployed, the folder deploy/nginx.
func StartNginx(t testing.TB, deployed string, replicas ...string) string {
	t.Helper()
	address, _ := StartNginxIn(t, deployed, replicas...)
	return address
}

// StartNginxIn also returns the folder that has the folder of its cache.
func StartNginxIn(t testing.TB, deployed string, replicas ...string) (address, dir string) {
	t.Helper()
	log, dir := new(Log), t.TempDir()
	s, err := nginx.Start(nginx.Options{
		Binary: Program(t, "nginx", "nginx-light"), Deployed: deployed, Dir: dir, Replicas: replicas, Log: log,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			text := log.String()
			t.Logf("nginx: %s", text[:min(len(text), 2000)])
		}
	})
	return s.Address, dir
}
