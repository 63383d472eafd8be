// Command bench makes catalogs to measure with, and measures servers over HTTP. It knows files and addresses only, nothing of the
// program under test, so that any program can be measured alike.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"hdqs/bench/catalog"
)

const usage = `usage: bench COMMAND [flags]

  catalog --out DIR [--scale 0] [--seed 1] [--gzip]   a directory catalog of made-up data (scale 1: twelve million rows)
  views   --out DIR [--scale 0] [--seed 1] [--gzip]   the view dumps of the same data
  hostile --out DIR [--seed 1]                        a catalog full of faults
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	switch args[0] {
	case "catalog":
		return generate(args, catalog.Write)
	case "views":
		return generate(args, catalog.WriteViews)
	case "hostile":
		return generate(args, func(dir string, o catalog.Options) ([]catalog.Count, error) {
			faults, err := catalog.WriteHostile(dir, o)
			return []catalog.Count{{Role: "faults", Rows: len(faults)}}, err
		})
	}
	fmt.Fprint(os.Stderr, usage)
	os.Exit(2)
	return nil
}

// generate makes a catalog and prints what is in it.
func generate(args []string, write func(string, catalog.Options) ([]catalog.Count, error)) error {
	var o catalog.Options
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	out := flags.String("out", "", "directory to write to")
	flags.Uint64Var(&o.Seed, "seed", 1, "another seed, other data")
	flags.Float64Var(&o.Scale, "scale", 0, "0 is the sample, 1 is twelve million rows")
	flags.BoolVar(&o.Compress, "gzip", false, "compress the files of the themes")
	flags.IntVar(&o.Workers, "workers", 0, "goroutines; 0: one for each core")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("%s: --out is missing", args[0])
	}
	begun := time.Now()
	counts, err := write(*out, o)
	if err != nil {
		return err
	}
	var total catalog.Count
	fmt.Printf("%-30s %10s %10s %10s %10s\n", "role", "rows", "marked", "hidden", "kept")
	for _, c := range append(counts, catalog.Count{Role: "all"}) {
		if c.Role == "all" {
			c = total
			c.Role = "all"
		}
		fmt.Printf("%-30s %10d %10d %10d %10d\n", c.Role, c.Rows, c.Marked, c.Hidden, c.Kept)
		total.Rows, total.Marked, total.Hidden, total.Kept = total.Rows+c.Rows, total.Marked+c.Marked, total.Hidden+c.Hidden, total.Kept+c.Kept
	}
	fmt.Fprintf(os.Stderr, "%.1f s\n", time.Since(begun).Seconds())
	return nil
}
