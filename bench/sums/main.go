// Command sums answers aggregate questions about the tables of a store, for bench/sums/compare.py.
// Each line of its input has a number of repetitions, a table and a query. It prints a line of JSON
// for each: the CPU seconds of all repetitions, and the answer as CSV.
//
//	sums STORE < questions
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hdqs/aggregate"
	"hdqs/index"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sums:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: sums STORE")
	}
	runtime.GOMAXPROCS(1)
	from, err := store.Open(args[0])
	if err != nil {
		return err
	}
	at, err := from.Channel("stable")
	if err != nil {
		return err
	}
	opened, err := from.Open(at.ID)
	if err != nil {
		return err
	}
	tables := map[string]*aggregate.Table{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		if len(words) != 3 {
			return fmt.Errorf("question %q has %d words, want 3", in.Text(), len(words))
		}
		seg := opened.Segments[words[1]]
		if tables[words[1]] == nil {
			if tables[words[1]], err = open(seg); err != nil {
				return err
			}
		}
		reply, err := ask(tables[words[1]], seg, words[0], words[2])
		if err != nil {
			return fmt.Errorf("question %q: %w", in.Text(), err)
		}
		line, err := json.Marshal(reply)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", line)
	}
	return in.Err()
}

func open(seg *snapshot.Segment) (*aggregate.Table, error) {
	x, err := index.Open(seg)
	if err != nil {
		return nil, err
	}
	return aggregate.Open(x, seg, aggregate.Options{
		PeriodStart: "reference_period_start", PeriodEnd: "reference_period_end",
	})
}

// ask answers a question so many times.
func ask(table *aggregate.Table, seg *snapshot.Segment, times, query string) (map[string]any, error) {
	n, err := strconv.Atoi(times)
	if err != nil {
		return nil, err
	}
	q, err := parse(seg, query)
	if err != nil {
		return nil, err
	}
	var text []byte
	before := cpu()
	for range n {
		if text, err = answer(table, q, text[:0]); err != nil {
			return nil, err
		}
	}
	return map[string]any{"seconds": (cpu() - before).Seconds(), "csv": string(text)}, nil
}

// answer writes the answer as CSV. No value of these questions needs quotes.
func answer(table *aggregate.Table, q *aggregate.Question, dst []byte) ([]byte, error) {
	r, err := table.Answer(q)
	if err != nil {
		return nil, err
	}
	for i := range r.Len() {
		for k := range q.Groups {
			dst = append(r.Group(i, k).Append(dst), ',')
		}
		for k := range q.Measures {
			dst = append(r.Measure(i, k).Append(dst), ',')
		}
		dst[len(dst)-1] = '\n'
	}
	return dst, nil
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// parse reads a question. start_date is the first day of periods that may still count.
func parse(seg *snapshot.Segment, query string) (*aggregate.Question, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	q := &aggregate.Question{Query: &index.Query{}}
	parts := map[string]aggregate.Part{
		"year": aggregate.Year, "quarter": aggregate.Quarter, "month": aggregate.Month,
	}
	for _, name := range strings.Split(values.Get("group_by"), ",") {
		if part, is := parts[name]; is {
			q.Groups = append(q.Groups, aggregate.Group{Column: "reference_period_start", Part: part})
		} else {
			q.Groups = append(q.Groups, aggregate.Group{Column: name})
		}
	}
	funcs := map[string]aggregate.Func{}
	for f := aggregate.Count; f <= aggregate.Latest; f++ {
		funcs[f.String()] = f
	}
	for _, m := range strings.Split(values.Get("measures"), ",") {
		name, column, _ := strings.Cut(m, ":")
		q.Measures = append(q.Measures, aggregate.Measure{Func: funcs[name], Column: column})
	}
	for name := range values {
		value := values.Get(name)
		f := index.Filter{Columns: []string{name}, Op: index.Equal, Value: index.Value{Text: value}}
		switch name {
		case "group_by", "measures":
			continue
		case "start_date":
			day, err := time.Parse("2006-01-02", value)
			if err != nil {
				return nil, err
			}
			f = index.Filter{
				Columns: []string{"reference_period_end"}, Op: index.AtLeast, Value: index.Value{Int: day.UnixMicro()},
			}
		default:
			if c, err := seg.Column(name); err == nil && c.Kind == snapshot.Bool && value == "true" {
				f.Value = index.Value{Int: 1}
			}
		}
		q.Query.Filters = append(q.Query.Filters, f)
	}
	return q, nil
}
