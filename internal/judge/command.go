// Package judge is a conformance oracle for the whole service. From a directory of view dumps it
// computes the answer that the contract requires for any request, one row at a time and sharing no
// code with the service, and compares it with the server's. cmd/judge is its program.
package judge

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Main runs one command of the judge and returns the exit code: 0, 1 if answers differ or a step
// failed, 2 for a usage error. Results go to out, messages to messages.
func Main(args []string, out, messages io.Writer) int {
	err := run(args, out)
	if err == nil {
		return 0
	}
	fmt.Fprintln(messages, err)
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

var (
	errUsage   = errors.New("usage: judge record|replay|check|pages|requests|grade|garble|edit|condense [flags]")
	errDiffers = errors.New("answers differ from the contract")
)

// options are the flags of all commands.
type options struct {
	contract, views, catalogURL, loadTime string
	base, file, answers, out              string
	only, accept, extensions              string
	before, since                         string
	n, long, most, parallel               int
	seed                                  uint64
}

// parse reads the flags of a command, and its argument.
func parse(args []string) (o options, argument string, err error) {
	if len(args) == 0 {
		return o, "", errUsage
	}
	flags := flag.NewFlagSet("judge "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.contract, "contract", "testdata/contract.json", "the condensed contract")
	flags.StringVar(&o.views, "views", "",
		"directory of view dumps; empty: the full pages of the server at -base, for requests of extensions")
	flags.StringVar(&o.catalogURL, "catalog-url", "",
		"base of links; empty: the one in the catalog.json beside the dumps, else the public catalog")
	flags.StringVar(&o.loadTime, "snapshot-time", "", "time of the load (RFC 3339), for rows of unknown resources")
	flags.StringVar(&o.base, "base", "", "base URL of the server")
	flags.StringVar(&o.file, "file", "-", "recorded requests and answers; - is stdin")
	flags.StringVar(&o.answers, "answers", "-", "answers of a batch; - is stdin")
	flags.StringVar(&o.out, "out", "", "directory to write dumps to")
	flags.IntVar(&o.n, "n", 2000,
		"number of requests; 0: every endpoint, parameter and kind of value once; -1: all rows of every endpoint")
	flags.IntVar(&o.long, "long", 0, "number of requests for many rows, in addition to the others")
	flags.StringVar(&o.extensions, "extensions", "",
		"kinds of extensions, -n requests of each instead of the contract's: in,fields,latest,geojson,aggregate,"+
			"facets,changes")
	flags.StringVar(&o.before, "before", "", "directory of the earlier view dumps that changes are asked since")
	flags.StringVar(&o.since, "since", "", "id of the snapshot made of them")
	flags.StringVar(&o.only, "only", "", "ask only endpoints whose path contains this")
	flags.StringVar(&o.accept, "accept-encoding", "",
		"send every request with this Accept-Encoding; empty: the one it was generated with")
	flags.IntVar(&o.parallel, "parallel", 1, "number of concurrent requests")
	flags.IntVar(&o.most, "show", 20, "how many differing requests to print; 0: all")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the requests")
	if err := flags.Parse(args[1:]); err != nil {
		return o, "", fmt.Errorf("%w: %w", errUsage, err)
	}
	return o, flags.Arg(0), nil
}

func run(args []string, out io.Writer) error {
	o, argument, err := parse(args)
	if err != nil {
		return err
	}
	inWorld := map[string]func(options, *world, io.Writer) error{
		"record": options.record, "check": options.check, "pages": options.pages,
	}
	if command := inWorld[args[0]]; command != nil {
		w, err := o.world()
		if err != nil {
			return err
		}
		return command(o, w, out)
	}
	switch args[0] {
	case "replay":
		return o.replay(out)
	case "requests":
		return o.requests(out)
	case "grade":
		return o.grade(out)
	case "garble":
		return o.garble()
	case "edit":
		return o.edit()
	case "condense":
		c, err := readContract(argument)
		if err != nil {
			return err
		}
		text, err := condense(c)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	return errUsage
}

// exchange is one line of a recording.
type exchange struct {
	Request  request `json:"request"`
	Expected answer  `json:"expected"`
}

func (o options) world() (*world, error) {
	c, err := readContract(o.contract)
	if err != nil {
		return nil, err
	}
	if o.views == "" && o.base != "" {
		return o.servedWorld(c)
	}
	var at time.Time
	if o.loadTime != "" {
		if at, err = time.Parse(time.RFC3339, o.loadTime); err != nil {
			return nil, fmt.Errorf("%w: --snapshot-time: %w", errUsage, err)
		}
	}
	w, err := readWorld(c, o.views, o.catalogURL, at.UTC())
	if err != nil {
		return nil, err
	}
	if o.before != "" {
		if w.before, err = readWorld(c, o.before, o.catalogURL, at.UTC()); err != nil {
			return nil, err
		}
		w.since = o.since
	}
	for _, text := range w.warnings[:min(len(w.warnings), 10)] {
		fmt.Fprintln(os.Stderr, "the dumps contradict each other:", text)
	}
	return w, nil
}

// servedWorld reads the rows of a server, and with since those of that snapshot too.
func (o options) servedWorld(c *contract) (*world, error) {
	w, err := readServed(c, o.base, "")
	if err != nil || o.since == "" {
		return w, err
	}
	w.since = o.since
	w.before, err = readServed(c, o.base, o.since)
	return w, err
}

// exchanges generates the requests and passes each on with its answer, one after the other, so that
// only one body is in memory.
func (o options) exchanges(w *world, each func(exchange) error) error {
	m := newMaker(w, o.seed)
	m.only(o.only)
	if len(m.endpoints) == 0 {
		return fmt.Errorf("%w: --only %s: no endpoint's path contains it", errUsage, o.only)
	}
	all := m.extended(o.extensions, o.n)
	if o.extensions == "" {
		all = append(m.requests(o.n), m.long(o.long)...)
	}
	for _, r := range all {
		if err := each(exchange{r, w.answer(r)}); err != nil {
			return err
		}
	}
	return nil
}

func (o options) garble() error {
	c, err := readContract(o.contract)
	if err != nil {
		return err
	}
	g := &garbler{contract: c, seed: o.seed, rng: rand.New(rand.NewPCG(o.seed, 0x676172626c65))}
	return g.garble(o.views, o.out)
}

func (o options) edit() error {
	c, err := readContract(o.contract)
	if err != nil {
		return err
	}
	d := &editor{contract: c, rng: rand.New(rand.NewPCG(o.seed, 0x65646974))}
	return d.editDumps(o.views, o.out)
}

func (o options) record(w *world, out io.Writer) error {
	b := bufio.NewWriter(out)
	err := o.exchanges(w, func(x exchange) error {
		line, err := encodePlain(x)
		if err == nil {
			_, err = b.Write(append(line, '\n'))
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.Flush()
}

// tally counts and prints differences.
type tally struct {
	mu                sync.Mutex
	out               io.Writer
	most, n, differed int
}

func (t *tally) add(x exchange, got reply, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	found := []string{}
	if err != nil {
		found = append(found, "no answer: "+err.Error())
	} else {
		found = x.Expected.differences(x.Request, got)
	}
	if len(found) == 0 {
		return
	}
	t.differed++
	if t.most > 0 && t.differed > t.most {
		return
	}
	fmt.Fprintf(t.out, "%s %s", x.Request.Method, x.Request.Path)
	for name, value := range x.Request.Headers {
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
		return errDiffers
	}
	return nil
}

// sendAll sends the requests that each passes on to the server and compares the answers. Requests
// that an error names instead are answered too, by answer if it is not nil.
func (o options) sendAll(out io.Writer, each func(func(exchange) error) error, answer func(request) answer) error {
	c, err := newClient(o.base)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	t := &tally{out: out, most: o.most}
	exchanges := make(chan exchange)
	var senders sync.WaitGroup
	for range max(1, o.parallel) {
		senders.Go(func() {
			for x := range exchanges {
				if o.accept != "" {
					x.Request = x.Request.accepting(o.accept)
				}
				got, err := c.send(x.Request)
				t.add(x, got, err)
				if other := insteadOf(x.Request, got); other != nil && answer != nil {
					got, err := c.send(*other)
					expected := answer(*other)
					if expected.Status != 200 {
						err = fmt.Errorf("the request named instead of %s is wrong as well", x.Request.Path)
					}
					t.add(exchange{*other, expected}, got, err)
				}
			}
		})
	}
	err = each(func(x exchange) error { exchanges <- x; return nil })
	close(exchanges)
	senders.Wait()
	if err != nil {
		return err
	}
	return t.result()
}

func (o options) check(w *world, out io.Writer) error {
	each := func(pass func(exchange) error) error { return o.exchanges(w, pass) }
	return o.sendAll(out, each, w.answer)
}

func (o options) replay(out io.Writer) error { return o.sendAll(out, o.recorded, nil) }

func (o options) requests(out io.Writer) error {
	b := bufio.NewWriter(out)
	err := o.recorded(func(x exchange) error {
		line, err := encodePlain(x.Request)
		if err == nil {
			_, err = b.Write(append(line, '\n'))
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.Flush()
}

func (o options) grade(out io.Writer) error {
	in, err := openInput(o.answers)
	if err != nil {
		return err
	}
	defer in.Close()
	answers := json.NewDecoder(in)
	t := &tally{out: out, most: o.most}
	err = o.recorded(func(x exchange) error {
		var b batchAnswer
		if err := answers.Decode(&b); err != nil {
			return fmt.Errorf("answer %d of %s: %w", t.n+1, o.answers, err)
		}
		got, err := b.reply(x.Request.Method == "HEAD")
		t.add(x, got, err)
		return nil
	})
	if err != nil {
		return err
	}
	return t.result()
}

func (o options) recorded(each func(exchange) error) error {
	in, err := openInput(o.file)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := json.NewDecoder(in)
	for n := 1; ; n++ {
		var x exchange
		switch err := lines.Decode(&x); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: line %d: %w", o.file, n, err)
		}
		if err := each(x); err != nil {
			return err
		}
	}
}

func openInput(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	return os.Open(name)
}
