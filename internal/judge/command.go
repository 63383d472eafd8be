package judge

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hdqs/testdata"
)

// Main runs the judge and prints the results. It fails if answers differ or a step failed.
func Main(args []string, out io.Writer) error {
	o := parse(args)
	w, err := o.world()
	if err != nil {
		return err
	}
	return o.check(w, out)
}

type options struct {
	views, catalogURL, loadTime string
	base, kinds                 string
	n, most, parallel           int
	seed                        uint64
}

func parse(args []string) (o options) {
	flags := flag.NewFlagSet("judge", flag.ExitOnError)
	flags.StringVar(&o.views, "views", "", "directory of view dumps")
	flags.StringVar(&o.catalogURL, "catalog-url", "",
		"base of links; empty: the one in the catalog.json beside the dumps, else the public catalog")
	flags.StringVar(&o.loadTime, "snapshot-time", "", "time of the load (RFC 3339), for rows of unknown resources")
	flags.StringVar(&o.base, "base", "", "base URL of the server")
	flags.IntVar(&o.n, "n", 2000, "number of requests")
	flags.StringVar(&o.kinds, "kinds", allKinds, "kinds of requests, separated by commas")
	flags.IntVar(&o.parallel, "parallel", 1, "number of concurrent requests")
	flags.IntVar(&o.most, "show", 20, "how many differing requests to print; 0: all")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the requests")
	_ = flags.Parse(args) // exits
	return o
}

func (o options) world() (*world, error) {
	c, err := parseContract(testdata.Contract)
	if err != nil {
		return nil, err
	}
	var at time.Time
	if o.loadTime != "" {
		if at, err = time.Parse(time.RFC3339, o.loadTime); err != nil {
			return nil, fmt.Errorf("--snapshot-time: %w", err)
		}
	}
	return readWorld(c, o.views, o.catalogURL, at.UTC())
}

// check sends random requests to the server and prints each answer that differs. Requests that a
// refusal suggests instead are sent too, and must be answered.
func (o options) check(w *world, out io.Writer) error {
	c, err := newClient(o.base)
	if err != nil {
		return err
	}
	requests, err := (&maker{w: w, rng: rand.New(rand.NewPCG(o.seed, 0x6a75646765))}).requests(o.kinds, o.n)
	if err != nil {
		return err
	}
	t := &tally{out: out, most: o.most}
	var senders errgroup.Group
	senders.SetLimit(max(1, o.parallel))
	for _, r := range requests {
		senders.Go(func() error {
			got := t.compare(c, r, w.answer(r))
			if other := suggested(r, got); other != nil {
				expected := w.answer(*other)
				if t.compare(c, *other, expected); expected.Status != 200 {
					t.add(*other, []string{"it is suggested instead of a wrong request, and wrong as well"})
				}
				if what := w.lost(r, *other); what != "" {
					t.add(*other, []string{"it is suggested instead of " + r.Path + ", without " + what})
				}
			}
			return nil
		})
	}
	return errors.Join(senders.Wait(), t.result())
}

// tally counts and prints differences.
type tally struct {
	mu                sync.Mutex
	out               io.Writer
	most, n, differed int
}

// compare sends a request, compares the reply with the expected answer and returns it.
func (t *tally) compare(c *client, r request, expected answer) reply {
	got, err := c.send(r)
	var found []string
	if err != nil {
		found = []string{"no answer: " + err.Error()}
	} else {
		found = expected.differences(r, got)
	}
	t.add(r, found)
	return got
}

// add counts a request, with what its answer differs in.
func (t *tally) add(r request, found []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	if len(found) == 0 {
		return
	}
	if t.differed++; t.most > 0 && t.differed > t.most {
		return
	}
	fmt.Fprintf(t.out, "%s %s", r.Method, r.Path)
	for name, value := range r.Headers {
		fmt.Fprintf(t.out, "  %s: %s", name, value)
	}
	fmt.Fprintln(t.out)
	for _, text := range found {
		fmt.Fprintln(t.out, "   ", text)
	}
}

func (t *tally) result() error {
	fmt.Fprintf(t.out, "%d requests, %d differ\n", t.n, t.differed)
	if t.differed > 0 {
		return errors.New("answers differ from the contract")
	}
	return nil
}
