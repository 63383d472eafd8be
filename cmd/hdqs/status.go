package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hdqs/api/state"
	"hdqs/internal/fleet"
	"hdqs/internal/memory"
	"hdqs/snapshot/store"
)

// The states of a replica, the worst last.
const (
	stateGood        = "good"
	stateDegraded    = "degraded"
	stateUnready     = "unready"
	stateUnreachable = "unreachable"
)

// replicaStatus is what a replica reports. Its public listener reports only which snapshot is
// served.
type replicaStatus struct {
	Address          string           `json:"address"`
	State            string           `json:"state"`
	Reasons          []string         `json:"reasons"` // why the state is not good
	Listener         string           `json:"listener,omitempty"`
	Snapshot         string           `json:"snapshot,omitempty"`
	AgeSeconds       int64            `json:"age_seconds,omitempty"`
	Tables           int              `json:"tables,omitempty"`
	Rows             int              `json:"rows,omitempty"`
	Missing          []string         `json:"missing,omitempty"`
	Stale            []string         `json:"stale_sources,omitempty"`
	LastPoll         *state.Poll      `json:"last_poll,omitempty"`
	InFlight         int64            `json:"in_flight,omitempty"`
	InFlightBytes    int64            `json:"in_flight_bytes,omitempty"`
	MemoryBytes      int64            `json:"memory_bytes,omitempty"` // resident
	MemoryLimitBytes int64            `json:"memory_limit_bytes,omitempty"`
	Shed             map[string]int64 `json:"shed,omitempty"` // refused requests by reason, since the start
	SwapsRefused     int64            `json:"swaps_refused,omitempty"`
	Panics           int64            `json:"panics,omitempty"`
}

func newStatus() *cobra.Command {
	var (
		admins  []string
		asJSON  bool
		timeout time.Duration
		isFleet bool
		f       storeFlags
	)
	cmd := &cobra.Command{
		Use:   "status [URL...] [--admin ADDR]... | --fleet --store SRC",
		Short: "Prints what replicas serve and how they fare",
		Long: `Prints what replicas serve and how they fare. The admin listener of a replica reports everything,
its public URL only which snapshot is served. With several addresses their snapshots are compared.
The exit code is 0 if all is good, 1 if a replica is not ready or degraded or the snapshots differ,
and 3 if a replica does not answer. A replica is degraded if a source of a table is
stale, or if its last poll of the store failed.

With --fleet it asks no replica, but reads what those with a name (serve --replica) have written into
the store: what each serves and since when, and why not what the channel shows. One whose report is
overdue is unknown. The exit code is 0 if there are reports, all are good, and no canary has waited
for a day.`,
		Example: "  hdqs status --admin 127.0.0.1:18080\n  hdqs status https://a.example.org https://b.example.org\n" +
			"  hdqs status --fleet --store s3://bucket/prefix",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case isFleet && len(args)+len(admins) > 0:
				return usagef("--fleet reads a store: want it, or replicas to ask")
			case isFleet:
				return f.printFleet(cmd, asJSON)
			}
			if len(args)+len(admins) == 0 {
				return usagef("status needs the URL of a replica, --admin ADDR, or --fleet --store SRC")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			for i := range admins {
				if strings.Contains(admins[i], "://") {
					continue
				}
				if err := checkAddress("admin", &admins[i]); err != nil {
					return exitWith(exitUsage, err)
				}
			}
			found := make([]replicaStatus, len(args)+len(admins))
			var asked sync.WaitGroup
			for i, address := range slices.Concat(args, admins) {
				asked.Go(func() { found[i] = askStatus(ctx, address, i >= len(args)) })
			}
			asked.Wait()
			return reportStatus(cmd.OutOrStdout(), found, asJSON)
		},
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringSliceVar(&admins, "admin", nil, "address of an admin listener: HOST:PORT, PORT of this "+
		"machine, or a URL")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&isFleet, "fleet", false, "print what replicas have reported to --store")
	f.register(cmd.Flags())
	numberVar(cmd.Flags(), &timeout, "timeout", 5*time.Second, shortestTimeout, longestTimeout,
		"how long to wait for the replicas")
	return cmd
}

// statusClient does not follow redirects: what it asks for is answered by the replica itself.
var statusClient = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// maxStatus bounds an answer. All metrics of a replica take about 100 KB.
const maxStatus = 8 << 20

func getStatus(ctx context.Context, url string) (code int, header http.Header, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("User-Agent", userAgent())
	res, err := statusClient.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, maxStatus))
	return res.StatusCode, res.Header, body, err
}

func askStatus(ctx context.Context, address string, admin bool) (s replicaStatus) {
	s = replicaStatus{Address: address, State: stateGood, Reasons: []string{}, Listener: "public"}
	base := strings.TrimRight(address, "/")
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	var err error
	if admin {
		s.Listener = "admin"
		err = s.askAdmin(ctx, base)
	} else {
		err = s.askPublic(ctx, base)
	}
	if err != nil {
		s.worsen(stateUnreachable, err.Error())
	}
	return s
}

func (s *replicaStatus) worsen(state, reason string) {
	order := []string{stateGood, stateDegraded, stateUnready, stateUnreachable}
	if slices.Index(order, state) > slices.Index(order, s.State) {
		s.State = state
	}
	s.Reasons = append(s.Reasons, reason)
}

// askPublic reads the header of the landing page, which every replica answers without an
// identifier.
func (s *replicaStatus) askPublic(ctx context.Context, base string) error {
	code, header, _, err := getStatus(ctx, base+"/")
	if err != nil {
		return err
	}
	s.Snapshot = header.Get("X-Snapshot-Id")
	switch {
	case code != http.StatusOK:
		s.worsen(stateUnready, fmt.Sprintf("the landing page has status %d", code))
	case s.Snapshot == "":
		s.worsen(stateUnready, "no snapshot is served, or this is not a replica")
	}
	return nil
}

func (s *replicaStatus) askAdmin(ctx context.Context, base string) error {
	_, _, body, err := getStatus(ctx, base+"/readyz")
	if err != nil {
		return err
	}
	var r struct {
		state.Readiness
		Ready *bool `json:"ready"` // nil of what is no replica
	}
	if err := json.Unmarshal(body, &r); err != nil || r.Ready == nil {
		return fmt.Errorf("%s/readyz is not that of a replica's admin listener: %.60q", base, body)
	}
	s.Snapshot, s.AgeSeconds, s.Missing = r.Snapshot, r.AgeSeconds, r.Missing
	s.LastPoll, s.Panics = r.LastPoll, r.Panics
	for _, n := range r.Rows {
		if s.Rows += n; n > 0 {
			s.Tables++
		}
	}
	for _, source := range r.Stale {
		s.Stale = append(s.Stale, source.Table)
	}
	code, _, body, err := getStatus(ctx, base+"/metrics")
	if err != nil || code != http.StatusOK {
		return cmp.Or(err, fmt.Errorf("%s/metrics has status %d", base, code))
	}
	s.readMetrics(string(body))
	switch {
	case !*r.Ready:
		s.worsen(stateUnready, cmp.Or(r.Reason, "not ready"))
	case s.LastPoll != nil && s.LastPoll.Outcome == "failed":
		s.worsen(stateDegraded, "the last poll of the store failed: "+s.LastPoll.Reason)
	}
	if len(s.Stale) > 0 {
		s.worsen(stateDegraded, "stale sources of tables: "+strings.Join(s.Stale, ", "))
	}
	return nil
}

// readMetrics reads the few metrics that matter here. A sample is a line: name{labels} value.
func (s *replicaStatus) readMetrics(text string) {
	counts := map[string]*int64{
		"hdqs_http_in_flight": &s.InFlight, "hdqs_http_in_flight_bytes": &s.InFlightBytes,
		"process_resident_memory_bytes": &s.MemoryBytes, "hdqs_memory_limit_bytes": &s.MemoryLimitBytes,
		"hdqs_swaps_refused_total": &s.SwapsRefused, // the only one with several samples
	}
	for line := range strings.Lines(text) {
		name, number, ok := strings.Cut(strings.TrimSpace(line), " ")
		value, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || strings.HasPrefix(name, "#") {
			continue
		}
		family, labels, _ := strings.Cut(name, "{")
		if to := counts[family]; to != nil {
			*to += int64(value)
		}
		if reason := strings.Split(labels, `"`); family == "hdqs_http_shed_total" && value > 0 && len(reason) > 1 {
			if s.Shed == nil {
				s.Shed = map[string]int64{}
			}
			s.Shed[reason[1]] = int64(value)
		}
	}
}

// reportStatus prints what was found. Its error has the exit code.
func reportStatus(out io.Writer, found []replicaStatus, asJSON bool) error {
	code, snapshots := 0, map[string]bool{}
	for _, s := range found {
		switch s.State {
		case stateGood:
		case stateUnreachable:
			code = exitUpstream
		default:
			code = cmp.Or(code, exitFailed)
		}
		if s.Snapshot != "" {
			snapshots[s.Snapshot] = true
		}
	}
	same := len(snapshots) <= 1
	if !same {
		code = cmp.Or(code, exitFailed)
	}
	if asJSON {
		err := printJSON(out, struct {
			Same     bool            `json:"same_snapshot"`
			Replicas []replicaStatus `json:"replicas"`
		}{same, found})
		if err != nil {
			return err
		}
	} else {
		for i := range found {
			found[i].print(out)
		}
		if !same {
			fmt.Fprintf(out, "the replicas serve %d different snapshots\n", len(snapshots))
		}
	}
	if code != 0 {
		return &exitError{code: code, err: errors.New("a replica is not good"), quiet: true}
	}
	return nil
}

func (s *replicaStatus) print(out io.Writer) {
	fmt.Fprintf(out, "%s: %s\n", s.Address, s.State)
	for _, reason := range s.Reasons {
		fmt.Fprintf(out, "  %s\n", reason)
	}
	if s.Snapshot == "" {
		return
	}
	fmt.Fprintf(out, "  snapshot  %s", s.Snapshot)
	if s.Listener != "admin" {
		fmt.Fprintln(out)
		return
	}
	age := time.Duration(s.AgeSeconds) * time.Second
	fmt.Fprintf(out, ", %s old; %d tables with %d rows\n", age.Round(time.Minute), s.Tables, s.Rows)
	if len(s.Missing) > 0 {
		fmt.Fprintf(out, "  no rows   %s\n", strings.Join(s.Missing, ", "))
	}
	if s.LastPoll != nil {
		fmt.Fprintf(out, "  last poll %s: %s\n", s.LastPoll.At.UTC().Format(time.RFC3339), s.LastPoll.Outcome)
	}
	limit := "no limit"
	if s.MemoryLimitBytes > 0 {
		limit = "limit " + memory.Size(s.MemoryLimitBytes)
	}
	fmt.Fprintf(out, "  memory    %s; %s\n", memory.Size(s.MemoryBytes), limit)
	fmt.Fprintf(out, "  in flight %d requests, %s\n", s.InFlight, memory.Size(s.InFlightBytes))
	for _, reason := range slices.Sorted(maps.Keys(s.Shed)) {
		fmt.Fprintf(out, "  refused   %d requests: %s\n", s.Shed[reason], reason)
	}
	if s.SwapsRefused > 0 || s.Panics > 0 {
		fmt.Fprintf(out, "  since the start: %d swaps refused for memory, %d panics\n", s.SwapsRefused, s.Panics)
	}
}

// fleetStatus is what the replicas of a channel have reported.
type fleetStatus struct {
	Channel  string         `json:"channel"`
	Shown    store.Pointer  `json:"shown"`
	Canary   *canaryStatus  `json:"canary,omitempty"` // that some replicas follow now
	Replicas []memberStatus `json:"replicas"`
}

type canaryStatus struct {
	store.Pointer
	Percent int `json:"percent"`
}

type memberStatus struct {
	fleet.Report
	State      fleet.State `json:"state"`
	Why        string      `json:"why,omitempty"`
	AgeSeconds int64       `json:"age_seconds"` // of the report
}

// longestCanary is the age from which a canary has been forgotten.
const longestCanary = 24 * time.Hour

func (f *storeFlags) printFleet(cmd *cobra.Command, asJSON bool) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	s, err := f.openExisting()
	if err != nil {
		return err
	}
	shown, err := s.read(ctx, f.channel)
	if err != nil {
		return storeError(s.channelError(ctx, err))
	}
	canary, err := s.read(ctx, store.CanaryOf(f.channel))
	if err != nil && !isAbsent(err) {
		return storeError(err)
	}
	now := time.Now()
	seen, err := fleet.Read(ctx, s.Files(), f.channel, now)
	if err != nil {
		return storeError(fmt.Errorf("all replicas are unknown, since their reports cannot be read: %w", err))
	}
	all := fleetStatus{Channel: f.channel, Shown: shown.Pointer, Replicas: []memberStatus{}}
	good := len(seen) > 0
	if canary.IsOf(shown.Channel) && canary.ID != shown.ID {
		all.Canary = &canaryStatus{canary.Pointer, canary.Canary.Percent}
		good = good && now.Sub(canary.PublishedAt) < longestCanary
	}
	for i := range seen {
		m := memberStatus{Report: seen[i].Report, AgeSeconds: int64(seen[i].Age.Seconds())}
		m.State, m.Why = seen[i].State(shown.Channel, canary.Channel)
		good = good && m.State == fleet.Good
		all.Replicas = append(all.Replicas, m)
	}
	if asJSON {
		err = printJSON(out, all)
	} else {
		err = all.print(out)
	}
	if err == nil && !good {
		err = &exitError{code: exitFailed, err: errors.New("a replica is not good"), quiet: true}
	}
	return err
}

func (s *fleetStatus) print(out io.Writer) error {
	fmt.Fprintf(out, "channel %s: %s of %s\n", s.Channel, s.Shown.ID, s.Shown.PublishedAt.Format(time.RFC3339))
	if s.Shown.PublishedAt.After(time.Now().Add(time.Minute)) {
		fmt.Fprintln(out, "  which is in the future: a clock is or was wrong")
	}
	if s.Canary != nil {
		fmt.Fprintf(out, "canary: %s of %s, for %d %% of the replicas; to go on: hdqs publish ID; to end it: "+
			"hdqs rollback --canary\n", s.Canary.ID, s.Canary.PublishedAt.Format(time.RFC3339), s.Canary.Percent)
	}
	if len(s.Replicas) == 0 {
		_, err := fmt.Fprintln(out, "no replica has reported: all are unknown")
		return err
	}
	counts := map[fleet.State]int{}
	for _, m := range s.Replicas {
		counts[m.State]++
		fmt.Fprintf(out, "%s: %s", m.Replica, m.State)
		if m.Shown.ID != "" {
			fmt.Fprintf(out, ", %s since %s", m.Shown.ID, m.Since.Format(time.RFC3339))
		}
		fmt.Fprintln(out)
		if m.Why != "" {
			fmt.Fprintf(out, "  %s\n", m.Why)
		}
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	_, err := fmt.Fprintf(out, "replicas: %s\n", strings.Join(parts, ", "))
	return err
}
