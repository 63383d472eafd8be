package figures

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/snapshot/store"
)

// Making is what the figures of a publication are made from.
type Making struct {
	Of     *store.Manifest
	Open   func() (*Offline, error) // its tables, which Make closes; called only if figures are computed
	Before *Kept                    // what the channel shows, nil if that is not known
	Shown  Edition                  // its publication
	Others []*Kept                  // of which figures can be taken over
	Since  time.Time                // earlier values are not kept, but for those that still held then
}

// Make makes the file of figures of a publication. Figures that are made of the same tables as
// those of another publication are not computed again.
func (m *Making) Make() (file []byte, err error) {
	k := &Kept{
		Format: keptFormat, Snapshot: m.Of.ID, Day: m.Of.SnapshotTime.UTC().Format(time.DateOnly),
		figures: map[string]*keptFigure{},
	}
	if m.Before != nil {
		k.Began = cmp.Or(m.Before.Began, m.Shown)
	}
	var reader *headlineReader
	for _, h := range contract.Headlines {
		f, err := m.takeOver(h, k.Day)
		if err == nil && f == nil && reader == nil {
			var offline *Offline
			if offline, err = m.Open(); err != nil {
				return nil, err
			}
			defer offline.Close() // places have texts of the snapshot
			reader = readerOf(offline.Lists, offline.Served)
			reader.answers = map[string]answered{}
		}
		if err == nil && f == nil {
			f, err = m.compute(reader, h)
		}
		if err == nil {
			err = m.remember(f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		k.figures[h.Name] = f
	}
	m.number(k)
	return k.encode()
}

// takeOver is the figure of another publication that was made of the same rows, nil without one. Of
// a day before that other one, rows may be in the future that were not then.
func (m *Making) takeOver(h *contract.Headline, day string) (*keptFigure, error) {
	made := madeOf(m.Of, h)
	for _, from := range append([]*Kept{m.Before}, m.Others...) {
		if from == nil || from.figures[h.Name] == nil || from.Day > day {
			continue
		}
		if f := *from.figures[h.Name]; f.Made == made || f.Made == made+day {
			places, err := from.figures[h.Name].all()
			f.places = map[string]*keptPlace{}
			for code, p := range places {
				f.places[code] = new(*p)
			}
			return &f, err
		}
	}
	return nil, nil
}

// madeOf is a digest of all that the values of a figure depend on, but for the day. The list of
// resources changes each night, so only figures whose rows are provisional by it depend on it.
func madeOf(m *store.Manifest, h *contract.Headline) string {
	text, paths := declaredBy(h), []string{h.Path, locationsPath, unitLists[0], unitLists[1]}
	if h.List(contract.ContractNames).Provisional == contract.Unfinished {
		paths = append(paths, resourcesPath)
	}
	for _, path := range paths {
		table := contract.Endpoints[slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool {
			return e.Path == path
		})].Table
		for _, ref := range m.Tables {
			if ref.Table == table {
				text += " " + ref.SHA256
			}
		}
	}
	return digest([]byte(text))
}

// compute computes a figure of all countries, and of other places with rows.
func (m *Making) compute(c *headlineReader, h *contract.Headline) (*keptFigure, error) {
	f, err := newFigure(c, h)
	if err != nil {
		return nil, err
	}
	kept := &keptFigure{
		Name: h.Name, Declared: declaredBy(h), Made: madeOf(m.Of, h), Others: storedOf(f.others),
		Edition: f.base.Edition, From: f.base.Texts(contract.StartParam), Until: f.base.Texts(contract.EndParam),
		Future: slices.Sorted(maps.Keys(f.future)), places: map[string]*keptPlace{},
	}
	if f.hasFuture {
		kept.Made += f.today().Format(time.DateOnly)
	}
	codes := slices.Collect(maps.Keys(f.of))
	for i := range c.a.Served.Bound.Countries {
		codes = append(codes, c.a.Served.Bound.Countries[i].Code)
	}
	for _, code := range codes {
		of, _, err := headlineOf(f, code)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", code, err)
		}
		kept.places[code] = &keptPlace{headline: *of}
	}
	if keepsSeries(f.Headline) {
		series, err := readSeries(f)
		if err != nil {
			return nil, err
		}
		kept.Times = timesOf(series)
		for code := range series {
			kept.places[code].Series = packSeries(series[code], kept.Times)
		}
	}
	return kept, nil
}

// remember adds earlier values to a figure. Positions are those in Before.Earlier, from 2, and 1
// for Shown.
func (m *Making) remember(f *keptFigure) error {
	old := new(keptFigure)
	if m.Before != nil {
		old = cmp.Or(m.Before.figures[f.Name], old)
	}
	before, err := old.all()
	for code, p := range f.places {
		p.Was = nil // of another publication
		now := keptEntry{Value: p.Value, Of: &p.span}
		if was := before[code]; was != nil {
			for _, entry := range was.Was {
				entry.At++
				p.Was = append(p.Was, entry)
			}
			now.Redefined = old.Declared != f.Declared && len(p.Was) > 0
		}
		if first := len(p.Was) == 0; first && p.Value != "" || !first && p.Was[0].Value != p.Value || now.Redefined {
			p.Was = slices.Insert(p.Was, 0, now)
		}
	}
	return err
}

// number leaves out what is too old, and lists the publications that are left.
func (m *Making) number(k *Kept) {
	var all []Edition
	if m.Before != nil {
		all = append([]Edition{m.Shown}, m.Before.Earlier...)
	}
	used := make([]bool, len(all)+1)
	for _, f := range k.figures {
		for _, p := range f.places {
			for i, entry := range p.Was {
				used[entry.At] = true
				if entry.At > 0 && !all[entry.At-1].Published.After(m.Since) {
					p.Was = p.Was[:i+1]
					break
				}
			}
		}
	}
	position := make([]int, len(used))
	for i, edition := range all {
		if used[i+1] {
			k.Earlier = append(k.Earlier, edition)
			position[i+1] = len(k.Earlier)
		}
	}
	for _, f := range k.figures {
		for _, p := range f.places {
			for i := range p.Was {
				p.Was[i].At = position[p.Was[i].At]
			}
		}
	}
}

// encode is the file of figures that were made.
func (k *Kept) encode() ([]byte, error) {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(k); err != nil {
		return nil, err
	}
	codes, names := map[string]bool{}, slices.Sorted(maps.Keys(k.figures))
	for _, name := range names {
		if err := lines.Encode(k.figures[name]); err != nil {
			return nil, err
		}
		for code := range k.figures[name].places {
			codes[code] = true
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		for _, name := range names {
			p := k.figures[name].places[code]
			if p == nil {
				continue
			}
			text.WriteString(code + " " + name + " ")
			if err := lines.Encode(p.shortened()); err != nil {
				return nil, err
			}
		}
	}
	to, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return to.EncodeAll(text.Bytes(), nil), to.Close()
}

// shortened leaves out what entries have in common with those before.
func (p *keptPlace) shortened() *keptPlace {
	short, of := *p, p.span
	short.Was = slices.Clone(p.Was)
	for i := range short.Was {
		e := &short.Was[i]
		if i == 0 {
			e.Value = ""
		}
		if *e.Of == of {
			e.Of = nil
		} else {
			of = *e.Of
		}
	}
	return &short
}

// Offline answers questions about a snapshot without a server.
type Offline struct {
	Lists  *list.Lists
	Served *state.Served
	Mount  *list.Mount
}

// NewOffline takes a snapshot over, which Close closes. It binds all endpoints to it, as a server
// does before it serves it.
func NewOffline(snap *store.Snapshot) (*Offline, error) {
	bound, err := state.Bind(snap)
	if err != nil {
		return nil, errors.Join(err, snap.Close())
	}
	o := &Offline{Lists: list.New(state.New(state.Options{Logger: slog.New(slog.DiscardHandler)}), nil)}
	o.Served = o.Lists.State.NewServed(bound, time.Time{})
	o.Lists.Routes.RecordSources = []*list.RecordSource{AggregateSource}
	o.Mount = o.Lists.Routes.MountIn(contract.ContractNames)
	for i := range contract.Endpoints {
		o.Lists.Routes.AddLists(o.Mount, &contract.Endpoints[i])
	}
	return o, nil
}

// Close gives up the snapshot, at the first call.
func (o *Offline) Close() {
	if o.Served.Bound != nil {
		o.Served.Release(o.Lists.State.Log)
	}
}
