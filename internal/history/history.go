// Package history keeps what publications have changed, beside the snapshots of a store: which
// tables and sources differ, how many rows by country, and the rows themselves. So the changes of
// snapshots that have been removed are still known.
//
// What is kept of two snapshots depends on them only, in whatever order a channel shows them. It is
// signed like a snapshot. Its size has bounds: of more rows than those, only the numbers are kept.
package history

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/state"
	"hdqs/internal/objects"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// The folder of what is kept, and the bounds of its files.
const (
	folder   = "changes"
	mostRows = 500_000
	// mostPlaces bounds the countries, or pairs of them, that numbers of a table are kept of.
	mostPlaces = 10_000

	MaxChange = 1 << 20
	MaxRows   = 64 << 20 // compressed
)

// Name is the name in a store of what is kept of two snapshots.
func Name(from, to string) string { return folder + "/" + from + ".." + to + ".json" }

// RowsName is that of their rows: JSON lines as of 'hdqs diff --rows', compressed by gzip.
func RowsName(from, to string) string { return folder + "/" + from + ".." + to + ".ndjson.gz" }

// Kept is what is kept of two snapshots.
type Kept struct {
	Change *state.Change `json:"change"` // without its id and time, which are those of a publication
	Rows   string        `json:"rows_sha256,omitempty"`
}

// Make compares two open snapshots. rows is nil if there are too many to keep.
func Make(from, to *store.Snapshot, keys *store.Keys) (text, rows []byte, err error) {
	bound, err := state.BindPair(from, to)
	if err != nil {
		return nil, nil, err
	}
	change := state.NewChange(state.Published{Manifest: from.Manifest}, state.Published{Manifest: to.Manifest})
	change.ID, change.Counts = "", state.RowCounts{}
	var file bytes.Buffer
	w := &counter{to: gzip.NewWriter(&file), file: &file}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		n, places, err := figures.WriteChanges(w, bound[0], bound[1], e, false)
		if err != nil {
			return nil, nil, err
		}
		if n.All() == 0 {
			continue
		}
		if w.tooMany || len(places) > mostPlaces {
			clear(places)
		}
		places[""] = n
		change.Counts[e.Table] = places
	}
	if err := w.to.Close(); err != nil {
		return nil, nil, err
	}
	kept := Kept{Change: change}
	if !w.tooMany && file.Len() <= MaxRows {
		sum := sha256.Sum256(file.Bytes())
		kept.Rows, rows = hex.EncodeToString(sum[:]), file.Bytes()
	}
	body, err := json.Marshal(kept)
	signature := bytes.TrimSpace(keys.SignText(Name(change.From, change.To), body))
	if text = slices.Concat(signature, []byte("\n"), body); err == nil && len(text) > MaxChange {
		err = fmt.Errorf("what changed takes %d bytes, at most %d can be read again", len(text), MaxChange)
	}
	return text, rows, err
}

// counter passes rows on as long as they are not too many. Each write has whole lines.
type counter struct {
	to      *gzip.Writer
	file    *bytes.Buffer
	rows    int
	tooMany bool
}

func (c *counter) Write(lines []byte) (int, error) {
	c.rows += bytes.Count(lines, []byte("\n"))
	if c.tooMany = c.tooMany || c.rows > mostRows || c.file.Len() > MaxRows; c.tooMany {
		return len(lines), nil
	}
	return c.to.Write(lines)
}

// Parse parses what is kept of two snapshots, and checks its signature if keys require one.
func Parse(from, to string, data []byte, keys *store.Keys) (k Kept, err error) {
	signature, body, ok := bytes.Cut(data, []byte("\n"))
	if err := keys.CheckText(Name(from, to), body, signature); err != nil {
		return Kept{}, err
	}
	if ok {
		err = json.Unmarshal(body, &k)
	}
	switch c := k.Change; {
	case !ok || err != nil || c == nil || c.From != from || c.To != to:
		err = cmp.Or(err, errors.New("it is about other snapshots"))
	default:
		for _, places := range c.Counts {
			for _, n := range places {
				if min(n[0], n[1], n[2]) < 0 {
					err = errors.New("a number of rows is negative")
				}
			}
		}
	}
	if err != nil {
		return Kept{}, fmt.Errorf("%w: %s: %w", snapshot.ErrCorrupt, Name(from, to), err)
	}
	return k, nil
}

// EachRow calls do with each line of the rows that are kept.
func (k *Kept) EachRow(data []byte, do func(line []byte) error) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != k.Rows {
		return fmt.Errorf("%w: %s has another digest", snapshot.ErrCorrupt, RowsName(k.Change.From, k.Change.To))
	}
	text, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	lines := bufio.NewReader(text)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(line)
		}
		if err != nil {
			return err
		}
	}
}

// Prune removes what is kept but for the newest publications.
func Prune(ctx context.Context, from objects.Store, keep int) error {
	all, err := from.List(ctx, folder)
	slices.SortFunc(all, func(a, b objects.Object) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(b.Name, a.Name))
	})
	stays := map[string]bool{}
	for _, o := range all {
		if stem, ok := strings.CutSuffix(o.Name, ".json"); ok && len(stays) < keep {
			stays[stem] = true
		}
	}
	for i, o := range all {
		stem, isRows := strings.CutSuffix(strings.TrimSuffix(o.Name, ".json"), ".ndjson.gz")
		// Rows that are newer than all else may be those of a publication that has just begun.
		if err == nil && !stays[stem] && (!isRows || i > 0) {
			_, err = from.Remove(ctx, o)
		}
	}
	return err
}
