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

// get reads a page of the admin listener.
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
type metrics map[string]float64

func (r *replica) metrics() (metrics, error) {
	status, body, err := r.get("/metrics")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("/metrics answers %d", status)
	}
	m := metrics{}
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

// sum adds up the series of a metric, which is a name and perhaps labels in braces: a series counts
// if it has them all.
func (m metrics) sum(metric string) (total float64, found bool) {
	name, labels, _ := strings.Cut(strings.TrimSuffix(metric, "}"), "{")
	for series, v := range m {
		seriesName, rest, _ := strings.Cut(series, "{")
		if seriesName != name {
			continue
		}
		has := true
		for _, label := range strings.Split(labels, ",") {
			has = has && strings.Contains(rest, label)
		}
		if has {
			total, found = total+v, true
		}
	}
	return total, found
}

// watch compares a metric with an earlier reading.
type watch struct {
	replica *replica
	metric  string
	before  float64
}

func (r *replica) watch(metric string) (*watch, error) {
	m, err := r.metrics()
	if err != nil {
		return nil, err
	}
	w := &watch{replica: r, metric: metric}
	w.before, _ = m.sum(metric)
	return w, nil
}

// by returns by how much the metric has moved. It is 0 without such a metric.
func (w *watch) by() float64 {
	m, err := w.replica.metrics()
	if err != nil {
		return 0
	}
	now, _ := m.sum(w.metric)
	return now - w.before
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
