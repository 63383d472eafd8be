package figures

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
// the figure's name before it. At full scale it has 95,000 bytes, of which 19,000 are lines over
// time. Names of sources are in the list of resources, which a replica has: they would take 11,000.
// The best compression takes a tenth off, and five times the CPU.
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
const keptFormat = 2

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
	Others   stored   `json:"others,omitempty"`
	Times    []string `json:"times,omitempty"` // months or years of values in Series

	lines  map[string][]byte     // by place, of a file that was read
	places map[string]*keptPlace // of one that is made; of one that was read nil until all is called
}

// keptPlace is a figure of a place.
type keptPlace struct {
	headline
	Series string      `json:"z,omitempty"` // the figure over time, as packSeries has it
	Was    []keptEntry `json:"w,omitempty"` // the latest first; the first one is this value
}

// keptEntry is a value that a publication began with.
type keptEntry struct {
	At        int    `json:"a,omitempty"` // 0: this publication; else a position in Earlier, from 1
	Value     string `json:"v,omitempty"` // in the file not of the first one
	Of        *span  `json:"o,omitempty"` // in the file nil if it is that of the entry before, or of the place
	Redefined bool   `json:"d,omitempty"` // by another declaration than the entry before
}

// stored is a time or an integer as a text, empty for null. Later times sort after earlier ones.
type stored string

func storedOf(v aggregate.Value) stored { return stored(v.String()) }

// value is the time or integer, null for other texts.
func (s stored) value() (v aggregate.Value) {
	if at, err := time.Parse("2006-01-02T15:04:05", string(s)); err == nil {
		v = aggregate.Value{Kind: aggregate.Time, Int: at.UnixMicro()}
	} else if n, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		v = aggregate.Value{Kind: aggregate.Int, Int: n}
	}
	return v
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
	numbers, of := []string{p.Value, string(p.OutOf)}, &p.span
	for i := range p.Was {
		e := &p.Was[i]
		if i == 0 {
			e.Value = p.Value
		}
		if e.Of == nil {
			e.Of = of
		}
		numbers, of = append(numbers, e.Value), e.Of
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

// all decodes what is kept of all places, once. Several goroutines must not call it at once.
func (kept *keptFigure) all() (map[string]*keptPlace, error) {
	if kept.places != nil {
		return kept.places, nil
	}
	places := map[string]*keptPlace{}
	for code := range kept.lines {
		var err error
		if places[code], err = kept.place(code); err != nil {
			return nil, err
		}
	}
	kept.places = places
	return places, nil
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
	if kept := keptOf(c.s, c.a.Served); kept != nil {
		if f := kept.figures[h.Name]; f != nil && f.Declared == declaredBy(h) {
			return f
		}
	}
	return nil
}

// restore reads what is kept of the countries that were asked for into a figure.
func (kept *keptFigure) restore(f *figure) error {
	f.others, f.why = kept.Others.value(), map[string]say.Text{}
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
		p, err := kept.place(code)
		switch {
		case err != nil:
			return err
		case p.Rows == 0:
			f.why[code] = p.Reason.Text
		default:
			f.of[code] = &p.headline
		}
	}
	return nil
}

// storedText is a text as JSON can have it: its format and its arguments, of which some are texts.
type storedText struct{ say.Text }

// MarshalJSON implements json.Marshaler.
func (s storedText) MarshalJSON() ([]byte, error) {
	all := []any{s.Format}
	for _, arg := range s.Args {
		if text, is := arg.(say.Text); is {
			arg = storedText{text}
		}
		all = append(all, arg)
	}
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *storedText) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	err := json.Unmarshal(data, &parts)
	for i := 1; err == nil && i < len(parts); i++ {
		var text string
		var inner storedText
		if parts[i][0] == '"' {
			err = json.Unmarshal(parts[i], &text)
			s.Args = append(s.Args, text)
		} else {
			err = json.Unmarshal(parts[i], &inner)
			s.Args = append(s.Args, inner.Text)
		}
	}
	if err == nil && len(parts) > 0 {
		err = json.Unmarshal(parts[0], &s.Format)
	}
	if err == nil && strings.Count(s.Format, "%s") != len(parts)-1 {
		err = fmt.Errorf("%.40q is no text", data)
	}
	return err
}

// Values are the values of a figure by place, without nulls.
func (k *Kept) Values(h *contract.Headline) (map[string]string, error) {
	of, values := k.figures[h.Name], map[string]string{}
	if of == nil {
		return values, nil
	}
	places, err := of.all()
	for code, p := range places {
		if p.Value != "" {
			values[code] = p.Value
		}
	}
	return values, err
}

// SameRule reports whether a figure is declared alike in both.
func (k *Kept) SameRule(h *contract.Headline, other *Kept) bool {
	a, b := k.figures[h.Name], other.figures[h.Name]
	return a != nil && b != nil && a.Declared == b.Declared
}
