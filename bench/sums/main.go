// Command sums answers aggregate questions on one segment, for bench/sums/compare.py: each line of
// its input is a number of repetitions and the query of a question. It prints one line of JSON for
// each: the CPU time of all repetitions, and the answer as CSV.
//
//	sums SEGMENT < questions
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
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sums:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: sums SEGMENT < questions")
	}
	runtime.GOMAXPROCS(1)
	seg, err := snapshot.OpenSegment(args[0])
	if err != nil {
		return err
	}
	x, err := index.Open(seg)
	if err != nil {
		return err
	}
	table, err := aggregate.Open(x, seg, aggregate.Options{
		PeriodStart: "reference_period_start", PeriodEnd: "reference_period_end",
	})
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		times, query, _ := strings.Cut(in.Text(), " ")
		n, err := strconv.Atoi(times)
		if err != nil {
			return err
		}
		q, err := parse(seg, query)
		if err != nil {
			return err
		}
		var csv []byte
		before := cpu()
		for range n {
			if csv, err = answer(table, q, csv[:0]); err != nil {
				return err
			}
		}
		line, err := json.Marshal(map[string]any{"seconds": (cpu() - before).Seconds(), "csv": string(csv)})
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", line)
	}
	return in.Err()
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
