package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"hdqs/bench/catalog"
)

func makeCatalog(flags *flag.FlagSet, args []string) error {
	return generate(flags, args, catalog.Write)
}

func makeViews(flags *flag.FlagSet, args []string) error {
	return generate(flags, args, catalog.WriteViews)
}

func makeHostile(flags *flag.FlagSet, args []string) error {
	return generate(flags, args, func(dir string, o catalog.Options) ([]catalog.Count, error) {
		faults, err := catalog.WriteHostile(dir, o)
		return []catalog.Count{{Role: "faults", Rows: len(faults)}}, err
	})
}

// generate makes a catalog and prints what is in it.
func generate(flags *flag.FlagSet, args []string, write func(string, catalog.Options) ([]catalog.Count, error)) error {
	var o catalog.Options
	out := flags.String("out", "", "directory to write to")
	flags.Uint64Var(&o.Seed, "seed", 1, "another seed, other data")
	flags.Float64Var(&o.Scale, "scale", 0, "0 is the sample, 1 is twelve million rows")
	flags.BoolVar(&o.Compress, "gzip", false, "compress the files of the themes")
	flags.IntVar(&o.Workers, "workers", 0, "goroutines; 0: one for each core")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *out == "" {
		return errNoOut
	}
	if o.Scale < 0 || o.Scale > 1 {
		return fmt.Errorf("--scale %g is not between 0 and 1", o.Scale)
	}
	begun := time.Now()
	counts, err := write(*out, o)
	if err != nil {
		return err
	}
	fmt.Printf("%-30s %10s %10s %10s %10s\n", "role", "rows", "marked", "hidden", "kept")
	total := catalog.Count{Role: "all"}
	for _, c := range counts {
		printCount(c)
		total.Add(c)
	}
	printCount(total)
	fmt.Fprintf(os.Stderr, "%.1f s\n", time.Since(begun).Seconds())
	return nil
}

func printCount(c catalog.Count) {
	fmt.Printf("%-30s %10d %10d %10d %10d\n", c.Role, c.Rows, c.Marked, c.Hidden, c.Kept)
}
