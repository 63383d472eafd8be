package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/state"
	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

// Row prints the versions of a row, a JSON object a line, as 'hdqs diff --rows' does but with the
// snapshot and the time of its publication before the rest. A change is one of the row if it fits
// after it or before it.
type Row struct {
	Endpoint *contract.Endpoint
	Out      io.Writer
	Found    int // lines

	values map[string]string
	label  []byte                       // begins each line
	isNow  bool                         // lines are of rows as they are, not of changes
	now    []map[string]json.RawMessage // those rows, two at most
	first  []byte                       // line of the first
}

var errSeveral = errors.New("several rows fit")

// Name adds a value to those that name the row, as FIELD=VALUE. It reports false if there is no
// such field.
func (r *Row) Name(text string) (field string, ok bool) {
	field, value, ok := strings.Cut(text, "=")
	if r.values == nil {
		r.values = map[string]string{}
	}
	r.values[field] = value
	return field, ok && slices.Contains(contract.FieldNames(r.Endpoint.Fields), field)
}

// Current prints the row as a snapshot has it, if it has. Several are an error.
func (r *Row) Current(snap *store.Snapshot, p store.Pointer) error {
	r.isNow = true
	err := r.Between(&store.Snapshot{Manifest: &store.Manifest{}}, snap, p) // all rows are new
	r.isNow = false
	if errors.Is(err, errSeveral) {
		var differ []string
		for _, name := range contract.FieldNames(r.Endpoint.Fields) {
			if !bytes.Equal(r.now[0][name], r.now[1][name]) {
				differ = append(differ, name)
			}
		}
		return fmt.Errorf("several rows of %s have these values: name more fields with --row; the first two differ "+
			"in %s", r.Endpoint.Table, strings.Join(differ, ", "))
	}
	if err == nil {
		_, err = r.Out.Write(r.first)
	}
	return err
}

// Between prints the changes of the row from one snapshot to the next, which was published as p.
func (r *Row) Between(from, to *store.Snapshot, p store.Pointer) error {
	r.publishedAs(p)
	bound, err := state.BindPair(from, to)
	if err != nil {
		return err
	}
	_, _, err = figures.WriteChanges(r, bound[0], bound[1], r.Endpoint, false)
	return err
}

// Kept is Between for what a store has kept of two snapshots.
func (r *Row) Kept(
	ctx context.Context, files objects.Store, keys *store.Keys, from, to store.Pointer,
) error {
	r.publishedAs(to)
	text, _, err := files.Read(ctx, Name(from.ID, to.ID), "", MaxChange)
	if err != nil {
		return err
	}
	kept, err := Parse(from.ID, to.ID, text, keys)
	if err != nil {
		return err
	}
	if kept.Rows == "" {
		return errors.New("more rows have changed than are kept")
	}
	rows, _, err := files.Read(ctx, RowsName(from.ID, to.ID), "", MaxRows)
	if err != nil {
		return err
	}
	table := fmt.Appendf(nil, `{"table":%q,`, r.Endpoint.Table)
	return kept.EachRow(rows, func(line []byte) error {
		if !bytes.HasPrefix(line, table) {
			return nil
		}
		return r.add(line)
	})
}

func (r *Row) publishedAs(p store.Pointer) {
	r.label = fmt.Appendf(nil, `{"snapshot":%q,"published_at":%q,`, p.ID, p.PublishedAt.Format(time.RFC3339))
}

// Write prints those of some lines that are of the row. Each write has whole lines.
func (r *Row) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		if err := r.add(line); err != nil {
			return 0, err
		}
	}
	return len(lines), nil
}

func (r *Row) add(line []byte) error {
	var record, was map[string]json.RawMessage
	if err := json.Unmarshal(line, &record); err != nil {
		return err
	}
	fits := r.fits(record)
	if old := record["was"]; !fits && len(old) > 0 {
		if err := json.Unmarshal(old, &was); err != nil {
			return err
		}
		before := maps.Clone(record)
		maps.Copy(before, was)
		fits = r.fits(before)
	}
	if !fits {
		return nil
	}
	r.Found++
	if r.isNow {
		r.now = append(r.now, record)
		if len(r.now) > 1 { // Current reports it
			return errSeveral
		}
		r.first = append(slices.Clone(r.label), bytes.Replace(line[1:], []byte(`"added"`), []byte(`"none"`), 1)...)
		return nil
	}
	_, err := r.Out.Write(append(slices.Clone(r.label), line[1:]...))
	return err
}

// fits reports whether a record has the values that name the row.
func (r *Row) fits(record map[string]json.RawMessage) bool {
	for field, want := range r.values {
		var text *string
		got := string(record[field])
		if got == "null" {
			got = ""
		} else if json.Unmarshal(record[field], &text) == nil && text != nil {
			got = *text
		}
		if got != want {
			return false
		}
	}
	return true
}
