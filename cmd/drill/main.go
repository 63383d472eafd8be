// Command drill does to real replicas what operators meet, and measures what their clients notice:
// swaps under load, restarts and kills behind nginx, a memory limit of the kernel, and starts.
// Faults of stores, damaged files and signals are tests of cmd/hdqs.
//
//	drill --binary bin/hdqs           # everything: about ten minutes
//	drill --binary bin/hdqs --short   # the same with fewer repetitions: a minute
//	drill --only swaps,restarts --store DIR
//
// It prints one table, and exits with 1 if a figure is out of its bound.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// scenario is a part of the drill.
type scenario struct {
	name, about string
	run         func(context.Context, *drill, *table) error
}

var scenarios = []scenario{
	{"swaps", "swaps under load and scrubs, with one and with all tables changed", swaps},
	{"restarts", "restarts of replicas behind nginx", restarts},
	{"kill", "kill -9 of a replica behind nginx", kills},
	{"memory", "swaps in a control group with little memory", memoryLimit},
	{"first-second", "the first second after a start", firstSecond},
}

type options struct {
	binary, store, nginx, only string
	cores                      int
	scale                      float64
	short                      bool
}

type drill struct {
	options
	undo    []func() error // what to undo once the processes of a scenario have ended
	dir     string         // temporary
	running sync.WaitGroup // the processes, which are killed when their context ends
	data    *dataset
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/hdqs", "the program to drill")
	flag.StringVar(&o.store, "store", "",
		"directory store with two snapshots or more, which is copied; empty: made-up data (see --scale)")
	flag.Float64Var(&o.scale, "scale", 0.1, "size of the made-up data: 0 is the sample, 1 is twelve million rows")
	flag.IntVar(&o.cores, "cores", 0, "cores of a replica: it runs on the first ones only; 0: all")
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	flag.StringVar(&o.only, "only", strings.Join(names, ","), "the scenarios to run")
	flag.BoolVar(&o.short, "short", false, "fewer repetitions, the sample as data, and no bounds on latencies")
	flag.StringVar(&o.nginx, "nginx", "deploy/nginx", "folder with the configuration of nginx")
	flag.Parse()
	selected, err := o.check()
	if err != nil {
		fmt.Fprintf(os.Stderr, "drill: %v\n", err)
		os.Exit(2)
	}
	ok, err := o.drill(selected, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "drill: %v\n", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// check returns the selected scenarios, or what is wrong with the flags.
func (o *options) check() (selected []scenario, err error) {
	if flag.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: all arguments are flags", flag.Arg(0))
	}
	if o.cores < 0 || o.cores > runtime.NumCPU() {
		return nil, fmt.Errorf("--cores %d is not between 0 and %d, the cores of this machine",
			o.cores, runtime.NumCPU())
	}
	if o.scale < 0 || o.scale > 1 {
		return nil, fmt.Errorf("--scale %g is not between 0 and 1", o.scale)
	}
	if o.short {
		o.scale = 0
	}
	if _, err := os.Stat(o.binary); err != nil {
		return nil, fmt.Errorf("--binary: %w; `make build` makes it", err)
	}
	for _, path := range []*string{&o.binary, &o.store, &o.nginx} { // replicas run in another folder
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	for _, name := range strings.Split(o.only, ",") {
		at := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if at < 0 {
			return nil, fmt.Errorf("--only: no scenario is called %q; --help lists them", name)
		}
		selected = append(selected, scenarios[at])
	}
	return selected, nil
}

// drill runs the scenarios, one after the other, and prints the table.
func (o *options) drill(selected []scenario, result, progress io.Writer) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "hdqs-drill-")
	if err != nil {
		return false, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	d := &drill{options: *o, dir: dir}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := d.copyBinary(); err != nil {
		return false, err
	}
	if err := d.alone(ctx, d.prepare); err != nil {
		return false, err
	}
	t := &table{progress: progress}
	for _, s := range selected {
		t.scenario = s.name
		began := time.Now()
		err := d.alone(ctx, func(ctx context.Context) error { return s.run(ctx, d, t) })
		if ctx.Err() != nil {
			return false, errors.New("interrupted")
		}
		if err != nil {
			t.fail(s.about, err)
		}
		fmt.Fprintf(progress, "%s took %s\n", s.name, time.Since(began).Round(time.Second/10))
	}
	if err := t.write(result); err != nil {
		return false, err
	}
	failed := t.failed()
	fmt.Fprintf(result, "%d figures, %d out of bounds\n", len(t.rows), failed)
	return failed == 0, nil
}

// alone runs a part of the drill, then kills the processes that it has left and undoes what it has
// done.
func (d *drill) alone(ctx context.Context, part func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	err := part(ctx)
	cancel()
	d.running.Wait()
	for _, undo := range d.undo {
		err = errors.Join(err, undo())
	}
	d.undo = nil
	return err
}

// times returns how often something is repeated, in the long and in the short form.
func (d *drill) times(long, short int) int {
	if d.short {
		return short
	}
	return long
}

// span returns a duration in the long or in the short form.
func (d *drill) span(long, short time.Duration) time.Duration {
	if d.short {
		return short
	}
	return long
}

// folder makes a new folder, which a replica of another user may read.
func (d *drill) folder(name string) (string, error) {
	dir, err := os.MkdirTemp(d.dir, name+"-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// copyBinary copies the program, so that it does not change during the drill and every user may run
// it.
func (d *drill) copyBinary() error {
	program, err := os.ReadFile(d.binary)
	if err != nil {
		return err
	}
	d.binary = filepath.Join(d.dir, "hdqs")
	return errors.Join(os.Chmod(d.dir, 0o755), os.WriteFile(d.binary, program, 0o755))
}
