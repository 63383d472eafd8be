// Command generate writes made-up catalogs: the embedded sample, the catalogs of tests and those of
// benchmarks.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"hdqs/internal/generator"
)

const usage = `usage: generate COMMAND [flags]

  catalog  a directory catalog (--scale 1: twelve million rows)
  views    view dumps of the same data

generate COMMAND -h lists the flags.
`

var commands = map[string]func(string, generator.Options) ([]generator.Count, error){
	"catalog": generator.Write, "views": generator.WriteViews,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	name := os.Args[1]
	if err := generate(flag.NewFlagSet("generate "+name, flag.ExitOnError), os.Args[2:], commands[name]); err != nil {
		fmt.Fprintf(os.Stderr, "generate %s: %v\n", name, err)
		os.Exit(1)
	}
}

func generate(
	flags *flag.FlagSet, args []string, write func(string, generator.Options) ([]generator.Count, error),
) error {
	var o generator.Options
	out := flags.String("out", "", "directory to write to")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the data")
	flags.Float64Var(&o.Scale, "scale", 0, "0 is the sample, 1 is twelve million rows; 16, the most, is ten times "+
		"the rows and four times the places of 1")
	flags.BoolVar(&o.Compress, "gzip", false, "compress the files of the themes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: all arguments are flags", flags.Arg(0))
	}
	if *out == "" {
		return errors.New("--out is missing: a directory to write to")
	}
	if o.Scale < 0 || o.Scale > 16 {
		return fmt.Errorf("--scale %g is not between 0 and 16", o.Scale)
	}
	begun := time.Now()
	counts, err := write(*out, o)
	if err != nil {
		return err
	}
	fmt.Printf("%-30s %10s %10s %10s %10s\n", "role", "rows", "marked", "duplicates", "kept")
	total := generator.Count{Role: "all"}
	for _, c := range counts {
		printCount(c)
		total.Add(c)
	}
	printCount(total)
	fmt.Fprintf(os.Stderr, "%.1f s\n", time.Since(begun).Seconds())
	return nil
}

func printCount(c generator.Count) {
	fmt.Printf("%-30s %10d %10d %10d %10d\n", c.Role, c.Rows, c.Marked, c.Duplicates, c.Kept)
}
