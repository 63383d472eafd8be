package figures

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/say"
	"hdqs/api/state"
)

// Kept are the headline figures of a publication of a snapshot, and what earlier publications of
// the channel had where that differs. The file is lines, compressed by zstd: one about the
// publication, one about each figure, then for each place one of each figure, with the code and
// the figure's name before it. At full scale it has 86,000 bytes, of which 19,000 are lines over
// time. Names of sources are in the list of resources, which a replica has: they would take 11,000.
type Kept struct {
	Format   int       `json:"format"`
	Snapshot string    `json:"snapshot"`
	Day      string    `json:"day"`            // of the snapshot
	Began    Edition   `json:"began,omitzero"` // the first publication that was kept, zero for this one
	Earlier  []Edition `json:"earlier"`        // publications that entries refer to, the latest first

	figures map[string]*keptFigure
}

// Edition is a publication of a channel.
type Edition struct {
	Snapshot  string    `json:"snapshot"`
	Published time.Time `json:"published"`
}

// keptFormat is incremented when the form of the file changes.
const keptFormat = 1

// ruleVersion is part of the digest of each declaration. Increment it when the same rows give other
// numbers, as after a fault was corrected.
const ruleVersion = 1

// keptFigure is a figure of all places. With places it has what a figure that was read has.
type keptFigure struct {
	Name     string   `json:"figure"`
	Declared string   `json:"declared"`          // digest of the declaration
	Made     string   `json:"made"`              // digest of all that the values depend on
	Edition  bool     `json:"edition,omitempty"` // rows are those of the newest edition
	From     []string `json:"from,omitempty"`    // with Until: of which time they are, as parameters have it
	Until    []string `json:"until,omitempty"`
	Future   []string `json:"future,omitempty"`
	Others   *int64   `json:"others,omitempty"`
	Times    []string `json:"times,omitempty"` // months or years of values in Series

	lines  map[string][]byte     // by place, of a file that was read
	places map[string]*keptPlace // of one that is made
}

// keptPlace is a figure of a place. Times are in microseconds.
type keptPlace struct {
	Value       string      `json:"v,omitempty"` // as JSON has it; empty for null
	Rows        int         `json:"n,omitempty"` // 0 of a place that has none
	Start       *int64      `json:"s,omitempty"`
	End         *int64      `json:"e,omitempty"`
	Level       *int64      `json:"l,omitempty"`
	Units       *int64      `json:"u,omitempty"`
	Known       *int64      `json:"k,omitempty"`
	Sources     []string    `json:"f,omitempty"` // ids of resources, of which the snapshot has the rest
	Months      int         `json:"m,omitempty"`
	Month       string      `json:"y,omitempty"` // of YearApart: the newest one
	Provisional bool        `json:"p,omitempty"`
	OutOf       string      `json:"o,omitempty"`
	Reason      any         `json:"r,omitempty"` // as packText has it
	Series      string      `json:"z,omitempty"` // the figure over time, as packSeries has it
	Was         []keptEntry `json:"w,omitempty"` // the latest first; the first one is this value
}

// keptEntry is a value that a publication began with.
type keptEntry struct {
	At        int    `json:"a,omitempty"` // 0: this publication; else a position in Earlier, from 1
	Value     string `json:"v,omitempty"`
	Start     *int64 `json:"s,omitempty"`
	End       *int64 `json:"e,omitempty"`
	Level     *int64 `json:"l,omitempty"`
	Redefined bool   `json:"d,omitempty"` // by another declaration than the entry before
	Same      bool   `json:"b,omitempty"` // all but At and Redefined are those of the place
}

// mostKeptBytes bounds what is read, without compression.
const mostKeptBytes = 64 << 20

// OpenKept reads the file of a publication.
func OpenKept(data []byte) (*Kept, error) {
	unpacked, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostKeptBytes))
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	defer unpacked.Close()
	text, err := unpacked.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	k, n := &Kept{figures: map[string]*keptFigure{}}, 0
	for line := range bytes.Lines(text) {
		n++
		switch {
		case n == 1:
			err = json.Unmarshal(line, k)
			if err == nil && k.Format != keptFormat {
				err = fmt.Errorf("format %d, this program reads %d", k.Format, keptFormat)
			}
		case bytes.HasPrefix(line, []byte("{")):
			of := &keptFigure{lines: map[string][]byte{}}
			err = json.Unmarshal(line, of)
			k.figures[of.Name] = of
		default:
			code, rest, _ := bytes.Cut(line, []byte(" "))
			name, text, _ := bytes.Cut(rest, []byte(" "))
			if of := k.figures[string(name)]; of != nil {
				of.lines[string(code)] = text
			} else {
				err = fmt.Errorf("no figure %.40q is declared before", name)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("figures: line %d: %w", n, err)
		}
	}
	if k.Snapshot == "" {
		return nil, errors.New("figures: the file is empty")
	}
	return k, nil
}

// place decodes what is kept of a place.
func (kept *keptFigure) place(code string) (p *keptPlace, err error) {
	p = new(keptPlace)
	err = json.Unmarshal(kept.lines[code], p)
	numbers := []string{p.Value, p.OutOf}
	for i := range p.Was {
		if e := &p.Was[i]; e.Same {
			*e = keptEntry{e.At, p.Value, p.Start, p.End, p.Level, e.Redefined, false}
		}
		numbers = append(numbers, p.Was[i].Value)
	}
	for _, text := range numbers {
		if err == nil && !isNumber(text) {
			err = fmt.Errorf("%.40q is no number", text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("figures: %s of %s: %w", kept.Name, code, err)
	}
	return p, nil
}

// isNumber reports whether a text is a number in JSON, or empty.
func isNumber(text string) bool {
	return text == "" || strings.ContainsRune("-0123456789", rune(text[0])) && json.Valid([]byte(text))
}

// declaredBy is the digest of what defines the numbers of a figure.
func declaredBy(h *contract.Headline) string {
	of := *h
	of.Title, of.Reading, of.NotThis, of.Series, of.Groups = "", "", "", "", nil
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // texts and numbers
	}
	return digest(fmt.Appendf(text, " %d", ruleVersion))
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

type keptKey struct{}

// keptOf are the figures that the publication of a snapshot has kept, nil if it has none that fit.
func keptOf(s *list.Lists, v *state.Served) *Kept {
	if v.Bound.Figures.Data == nil {
		return nil
	}
	kept, _ := list.MadeOf(v, keptKey{}, func() (*Kept, error) {
		k, err := OpenKept(v.Bound.Figures.Data)
		if err == nil && k.Snapshot != v.Id {
			err = fmt.Errorf("figures: they are of snapshot %s", k.Snapshot)
		}
		if err != nil {
			s.State.Log.Warn("the kept figures cannot be used, and are computed", "snapshot", v.Id, "error", err)
			return nil, nil
		}
		return k, nil
	})
	return kept
}

// keptIn is what is kept of a figure, nil if it has to be computed: if the request has further
// filters, and if the figure is declared otherwise.
func keptIn(c *headlineReader, h *contract.Headline) *keptFigure {
	if declared, _ := contract.HeadlineOf(h.Name, contract.ContractNames); declared != h || len(c.given.Filters) > 0 {
		return nil
	}
	if kept := keptOf(c.s, c.a.Served); kept != nil && !c.computes {
		if f := kept.figures[h.Name]; f != nil && f.Declared == declaredBy(h) {
			return f
		}
	}
	return nil
}

// restore reads what is kept of the countries that were asked for into a figure.
func (kept *keptFigure) restore(f *figure) error {
	f.others, f.why = valueOf(aggregate.Int, kept.Others), map[string]say.Text{}
	for _, text := range slices.Concat(kept.From, kept.Until) {
		layout := time.DateOnly
		if len(text) < len(layout) {
			layout = "2006-01"
		}
		if _, err := time.Parse(layout, text); err != nil {
			return fmt.Errorf("figures: %s: %w", f.Name, err)
		}
	}
	if f.base.Edition = kept.Edition; kept.From != nil {
		f.base.Keep(contract.StartParam, kept.From...)
	}
	if kept.Until != nil {
		f.base.Keep(contract.EndParam, kept.Until...)
	}
	for _, code := range kept.Future {
		f.future[code] = true
	}
	codes := f.codes
	if !f.chosen {
		for code := range kept.lines {
			codes = append(codes, code)
		}
	}
	for _, code := range codes {
		if kept.lines[code] == nil {
			continue
		}
		if err := kept.restorePlace(f, code); err != nil {
			return err
		}
	}
	return nil
}

func (kept *keptFigure) restorePlace(f *figure, code string) error {
	p, err := kept.place(code)
	if err != nil {
		return err
	}
	reason, ok := unpackText(p.Reason)
	if !ok {
		return fmt.Errorf("figures: %s of %s: the reason is no text", f.Name, code)
	}
	if p.Rows == 0 {
		f.why[code] = reason
		return nil
	}
	if p.Month != "" {
		if f.months[code], err = time.Parse("2006-01", p.Month); err != nil {
			return fmt.Errorf("figures: %s of %s: %w", f.Name, code, err)
		}
	}
	f.of[code] = &headline{
		value: p.Value, rows: p.Rows, start: valueOf(aggregate.Time, p.Start), end: valueOf(aggregate.Time, p.End),
		level: valueOf(aggregate.Int, p.Level), units: valueOf(aggregate.Int, p.Units),
		known: valueOf(aggregate.Int, p.Known), sources: p.Sources, months: p.Months,
		provisional: p.Provisional, reason: reason, outOf: number(p.OutOf),
	}
	return nil
}

// pack is what is kept of a figure of a place.
func pack(f *figure, code string) (*keptPlace, error) {
	h, has, err := headlineOf(f, code)
	if err != nil {
		return nil, err
	}
	p := &keptPlace{Value: h.value, Reason: packText(h.reason)}
	if !has {
		return p, nil
	}
	p.Rows, p.Start, p.End, p.Level = h.rows, intIn(h.start), intIn(h.end), intIn(h.level)
	p.Units, p.Known, p.OutOf = intIn(h.units), intIn(h.known), string(h.outOf)
	p.Sources, p.Months, p.Provisional = h.sources, h.months, h.provisional
	if month, has := f.months[code]; has {
		p.Month = month.Format("2006-01")
	}
	return p, nil
}

// intIn is the number or time of a value, nil for null.
func intIn(v aggregate.Value) *int64 {
	if v.Kind != aggregate.Int && v.Kind != aggregate.Time {
		return nil
	}
	return &v.Int
}

func valueOf(kind aggregate.Kind, n *int64) aggregate.Value {
	if n == nil {
		return aggregate.Value{}
	}
	return aggregate.Value{Kind: kind, Int: *n}
}

// packText is a text as JSON can have it: its format and its arguments, of which some are texts.
func packText(t say.Text) any {
	if t.IsZero() {
		return nil
	}
	all := []any{t.Format}
	for _, arg := range t.Args {
		if text, is := arg.(say.Text); is {
			arg = packText(text)
		}
		all = append(all, arg)
	}
	return all
}

// unpackText is the reverse of packText. It reports false for anything else.
func unpackText(from any) (t say.Text, ok bool) {
	if from == nil {
		return t, true
	}
	all, _ := from.([]any)
	if len(all) == 0 {
		return t, false
	}
	if t.Format, ok = all[0].(string); !ok || strings.Count(t.Format, "%s") != len(all)-1 {
		return t, false
	}
	for _, arg := range all[1:] {
		if _, is := arg.(string); !is {
			text, ok := unpackText(arg)
			if !ok {
				return t, false
			}
			arg = text
		}
		t.Args = append(t.Args, arg)
	}
	return t, true
}

var errNoEdition = errors.New("figures: an entry is of a publication that is not listed")

// Values are the values of a figure by place, without nulls.
func (k *Kept) Values(h *contract.Headline) (map[string]string, error) {
	of, values := k.figures[h.Name], map[string]string{}
	if of == nil {
		return values, nil
	}
	for code := range of.lines {
		p, err := of.place(code)
		if err != nil {
			return nil, err
		}
		if p.Value != "" {
			values[code] = p.Value
		}
	}
	return values, nil
}

// SameRule reports whether a figure is declared alike in both.
func (k *Kept) SameRule(h *contract.Headline, other *Kept) bool {
	a, b := k.figures[h.Name], other.figures[h.Name]
	return a != nil && b != nil && a.Declared == b.Declared
}
