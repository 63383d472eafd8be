package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hdqs/bench/load"
)

// peerExperiment is the command peers: its flags and the servers that it started.
type peerExperiment struct {
	drive
	record
	list, bin, tables string
	rounds            int
	burst             time.Duration
	processes         []*process
}

// peer is a line of the list of peers.
type peer struct{ name, translation, command string }

func comparePeers(flags *flag.FlagSet, args []string) error {
	c := peerExperiment{}
	c.drive.flags(flags)
	c.record.register(flags, "peers")
	flags.StringVar(&c.list, "peers", "bench/peers/peers.txt", "file of peers and their commands")
	flags.StringVar(&c.bin, "bin", ".cache/peers/bin", "directory of the peers' programs, {bin} in commands")
	flags.StringVar(&c.tables, "tables", "tmp/peers/tables",
		"directory written by make_tables.py, {tables} in commands")
	flags.IntVar(&c.rounds, "rounds", 5, "bursts per server")
	flags.DurationVar(&c.burst, "burst", time.Second, "length of a burst")
	if err := c.record.parse(flags, args); err != nil {
		return err
	}
	queries, err := c.queries()
	if err != nil {
		return err
	}
	peers, err := readPeers(c.list)
	if err != nil {
		return err
	}
	stopWhenInterrupted(c.stop)
	return errors.Join(c.run(queries, peers), c.stop())
}

// readPeers reads the list of peers: lines of name, translation file or -, and command.
func readPeers(path string) ([]peer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []peer
	scanner := bufio.NewScanner(f)
	for n := 1; scanner.Scan(); n++ {
		fields := strings.Fields(scanner.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s:%d: %d words, want name, translation and command", path, n, len(fields))
		}
		all = append(all, peer{fields[0], fields[1], strings.Join(fields[2:], " ")})
	}
	return all, scanner.Err()
}

// server returns the server of a peer, with its translation.
func (c *peerExperiment) server(p peer) (*load.Server, error) {
	s := &load.Server{Name: p.name, Encoding: load.Identity}
	if p.translation == "-" {
		return s, nil
	}
	f, err := os.Open(filepath.Join(filepath.Dir(c.list), p.translation))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s.Translation, err = load.ReadTranslation(f); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return s, nil
}

// run starts all servers, compares them in turn and writes the report.
func (c *peerExperiment) run(queries []load.Query, peers []peer) error {
	first := firstPlain(queries)
	begin := func(s *load.Server, command string) error {
		p, err := launch(s, "", command, first, 2*time.Minute)
		if err != nil {
			return err
		}
		c.processes = append(c.processes, p)
		return p.settle(time.Minute)
	}
	ours := &load.Server{Name: "ours", Encoding: load.Identity}
	if err := begin(ours, c.start); err != nil {
		return err
	}
	compressed := &load.Server{Name: "ours-gzip", URL: ours.URL, PID: ours.PID, Encoding: load.Gzip}
	comparison := load.Comparison{
		Servers: []*load.Server{ours, compressed}, Queries: queries, Encodings: []string{load.Identity},
		Rounds: c.rounds, Burst: c.burst,
		Connections: c.connections, Progress: progress,
	}
	words := strings.NewReplacer("{bin}", c.bin, "{tables}", c.tables, "{here}", filepath.Dir(c.list))
	report := c.record.begin()
	report.Connections, report.Rounds, report.Burst = c.connections, c.rounds, c.burst
	report.Wanted = load.Wanted{CPU: 20, Rate: 8, CompressedRate: 15}
	for _, p := range peers {
		s, err := c.server(p)
		if err != nil {
			return err
		}
		progress("starting %s", p.name)
		if err := begin(s, words.Replace(p.command)); err != nil {
			return err
		}
		comparison.Servers = append(comparison.Servers, s)
	}
	var err error
	report.Cells, err = comparison.Run()
	for _, cell := range report.Cells {
		bad := cell.Wrong + cell.Failed
		if bad == 0 {
			continue
		}
		text := fmt.Sprintf("%s: %s gave %d good answers and %d wrong ones, and failed %d times.", cell.Query,
			cell.Server, cell.Answers, cell.Wrong, cell.Failed)
		report.Note += "\n" + text
		if bad*100 > cell.Answers { // a few refusals happen if the machine is busy with other work
			err = errors.Join(err, errors.New(text))
		}
	}
	report.Standings = load.Standings(report.Cells, ours.Name, compressed.Name)
	for _, p := range c.processes {
		u, unknown := load.UsageOf(p.PID)
		if unknown != nil {
			err = errors.Join(err, unknown)
			continue
		}
		report.Memory = append(report.Memory, load.Footprint{
			Server: p.Name, Rows: p.TotalRows(),
			Resident: u.Resident, PeakResident: u.Peak,
		})
	}
	return errors.Join(err, c.record.write(&report))
}

// stop ends all servers that were started.
func (c *peerExperiment) stop() error {
	var err error
	for _, p := range c.processes {
		err = errors.Join(err, p.stop())
	}
	c.processes = nil
	return err
}
