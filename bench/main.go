// Command bench measures servers over HTTP. It imports nothing of the program under test, so that any program can be
// measured alike.
package main

import (
	"flag"
	"fmt"
	"os"
)

const usage = `usage: bench COMMAND [flags]

  load     asks one server a mix of queries, as fast as it answers or at a rate
  pair     asks servers the same queries in turn and compares them
  peers    starts a server and its peers, databases that answer the same questions, and compares them
  overload starts a server and asks for more than it can give, and beside thousands of connections that wait
  incumbent
           starts a server and holds it against recorded figures of another program
  run      starts a server and a control, measures both in every way, writes a report with plots

bench COMMAND -h lists the flags.
`

var commands = map[string]func(*flag.FlagSet, []string) error{
	"load": loadOne, "pair": comparePairs, "peers": comparePeers, "incumbent": compareIncumbent, "run": runAll, "overload": overload,
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
		return fmt.Errorf("what is %q?", flags.Arg(0))
	}
	return nil
}
