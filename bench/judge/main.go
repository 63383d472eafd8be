// Command judge is the slow twin of the whole service.
package main

import (
	"fmt"
	"os"
)

func main() {
	c, err := readContract(os.Args[2])
	if err == nil {
		var text []byte
		if text, err = condense(c); err == nil {
			os.Stdout.Write(text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
