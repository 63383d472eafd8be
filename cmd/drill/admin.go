package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// adminClient asks admin listeners. It keeps no connections, since replicas come and go.
var adminClient = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (r *replica) get(path string) (status int, body string, err error) {
	req, err := http.NewRequest(http.MethodGet, r.admin+path, nil)
	if err != nil {
		return 0, "", err
	}
	if path == "/readyz" {
		req.Header.Set("Accept", "application/json")
	}
	res, err := adminClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// readiness is what /readyz says. Without an answer all of it is empty.
type readiness struct {
	ready    bool
	Snapshot string
	Reason   string
}

func (r *replica) readiness() (now readiness) {
	status, body, err := r.get("/readyz")
	if err != nil || json.Unmarshal([]byte(body), &now) != nil {
		return readiness{}
	}
	now.ready = status == http.StatusOK
	return now
}

// metrics are the series of /metrics, by name and labels as they are written there.
func (r *replica) metrics() (map[string]float64, error) {
	status, body, err := r.get("/metrics")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("/metrics answers %d", status)
	}
	m := map[string]float64{}
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		if v, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			m[line[:at]] = v
		}
	}
	return m, lines.Err()
}

// usage is what a process holds now.
type usage struct {
	resident, anonymous   int64 // bytes
	descriptors, mappings int   // mappings: of segments
}

func usageOf(pid int) (u usage, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return u, err
	}
	status, err1 := p.NewStatus()
	descriptors, err2 := p.FileDescriptorsLen()
	maps, err3 := p.ProcMaps()
	for _, m := range maps {
		if strings.HasSuffix(strings.TrimSuffix(m.Pathname, " (deleted)"), ".seg") {
			u.mappings++
		}
	}
	u.resident, u.anonymous, u.descriptors = int64(status.VmRSS), int64(status.RssAnon), descriptors
	return u, errors.Join(err1, err2, err3)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
