// Command bench measures servers over HTTP. It imports nothing of the program under test, so that
// every program is measured in the same way.
package main

import (
	"flag"
	"fmt"
	"os"
)

const usage = `usage: bench COMMAND [flags]

  load      sends a mix of queries to one server, as fast as it answers or at a rate
  pair      sends the same queries to several servers in turn and compares them
  run       starts a server and its controls, measures them in turn, writes a report
  swaps     measures answers after starts of a server and while it swaps its data
  fixed     sends bodies from memory by the HTTP library of the server; a control of run

bench COMMAND -h lists the flags.
`

var commands = map[string]func(*flag.FlagSet, []string) error{
	"load": loadOne, "pair": comparePairs, "run": runAll, "swaps": runSwaps, "fixed": sendFixed,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	name := os.Args[1]
	err := commands[name](flag.NewFlagSet("bench "+name, flag.ExitOnError), os.Args[2:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", name, err)
		os.Exit(1)
	}
}

// parse reads the flags of a command that takes no other arguments.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: all arguments are flags", flags.Arg(0))
	}
	return nil
}
