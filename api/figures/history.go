package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/say"
	"hdqs/api/state"
)

// computeHistory finds what a figure was in earlier publications, the newest first.
func computeHistory(s *list.Lists, a *list.Reply) (list.Records, error) {
	c, err := newHeadlineReader(s, a)
	if err != nil {
		return nil, err
	}
	h, found := a.Endpoint.Headline, &table{fields: a.Endpoint.Fields}
	kept := keptOf(s, a.Served)
	if kept == nil || kept.figures[h.Name] == nil {
		found.notes.Hints = append(found.notes.Hints, say.Of("no earlier values of this figure are kept"))
		return found, nil
	}
	codes := c.codes
	if !c.chosen {
		codes = slices.Sorted(maps.Keys(kept.figures[h.Name].lines))
	}
	for _, code := range codes {
		past, err := kept.past(a.Served, h, code)
		if err != nil {
			return nil, err
		}
		for i := range past {
			found.records = append(found.records, past[i].record(h, code))
		}
	}
	found.notes.Hints = list.NameHints(&a.Request.Question, a.Served.Bound, a.List, len(found.records))
	began := cmp.Or(kept.Began, publicationOf(a.Served))
	found.notes.Hints = append(found.notes.Hints, say.Of("values are kept since the publication of %s",
		began.Published.UTC().Format("2006-01-02 15:04:05")))
	found.from, found.n = pageOf(&a.Request.Question, len(found.records))
	return found, nil
}

// publicationOf is the publication of a snapshot that is served.
func publicationOf(v *state.Served) Edition {
	p := state.Published{At: v.Published(), Manifest: v.Bound.Snap.Manifest}
	return Edition{v.Id, p.Time()}
}

// Past is a value of a figure that a publication began with.
type Past struct {
	Edition
	Value string // as JSON has it; empty for null
	span
	Redefined bool // by another declaration than the value before, so that the two cannot be compared
}

// past is what a figure of a place was, the latest value first.
func (k *Kept) past(v *state.Served, h *contract.Headline, code string) (all []Past, err error) {
	of := k.figures[h.Name]
	if of == nil || of.lines[code] == nil {
		return nil, nil
	}
	p, err := of.place(code)
	if err != nil {
		return nil, err
	}
	for _, e := range p.Was {
		edition := publicationOf(v)
		if e.At < 0 || e.At > len(k.Earlier) {
			return nil, fmt.Errorf("figures: %s of %s: there is no publication %d", h.Name, code, e.At)
		} else if e.At > 0 {
			edition = k.Earlier[e.At-1]
		}
		all = append(all, Past{edition, e.Value, *e.Of, e.Redefined})
	}
	return all, nil
}

// PastOf is what a figure of a country was in the publications that are kept, as far as the values
// can be compared: the present value first. It is empty where a snapshot has no kept figures, and
// where the figure is declared in another way now.
func PastOf(s *list.Lists, v *state.Served, h *contract.Headline, code string) ([]Past, error) {
	kept := keptOf(s, v)
	if kept == nil || kept.figures[h.Name] == nil || kept.figures[h.Name].Declared != declaredBy(h) {
		return nil, nil
	}
	all, err := kept.past(v, h, code)
	if i := slices.IndexFunc(all, func(p Past) bool { return p.Redefined }); i >= 0 {
		all = all[:i+1]
	}
	return all, err
}

func (p *Past) record(h *contract.Headline, code string) []any {
	var value any
	if p.Value != "" {
		value = number(p.Value)
	}
	published := aggregate.Value{Kind: aggregate.Time, Int: p.Published.Truncate(time.Second).UnixMicro()}
	return []any{
		textOf(code), published, textOf(p.Snapshot), value, textOf(h.Unit), p.Start.value(), p.End.value(),
		p.Level.value(), p.Redefined,
	}
}

// Revision is a value of a figure that a publication has changed.
type Revision struct {
	Figure        *contract.Headline
	Place         string
	Before, After string // as JSON has them; empty for null
}

type revisionsKey struct{}

// mostRevised is of how many publications there are revisions, which are kept in memory: two years
// of nights have 170,000. Feeds and pages show fewer publications.
const mostRevised = 100

// RevisionsOf are the values that the latest publications have changed, as far as those of a
// snapshot are kept, in the order of the figures, then of the codes of places. The first values
// that were kept, and those of another declaration, are no changes.
func RevisionsOf(s *list.Lists, v *state.Served) map[Edition][]Revision {
	all, err := list.MadeOf(v, revisionsKey{}, func() (map[Edition][]Revision, error) {
		all, kept := map[Edition][]Revision{}, keptOf(s, v)
		if kept == nil {
			return all, nil
		}
		var since time.Time
		if len(kept.Earlier) > mostRevised {
			since = kept.Earlier[mostRevised-1].Published
		}
		for _, h := range contract.Headlines {
			of := kept.figures[h.Name]
			if of == nil {
				continue
			}
			for _, code := range slices.Sorted(maps.Keys(of.lines)) {
				past, err := kept.past(v, h, code)
				if err != nil {
					return nil, err
				}
				for i := range max(0, len(past)-1) {
					if past[i].Published.Before(since) {
						break
					}
					if !past[i].Redefined {
						edition := past[i].key()
						all[edition] = append(all[edition], Revision{h, code, past[i+1].Value, past[i].Value})
					}
				}
			}
		}
		return all, nil
	})
	if err != nil {
		s.State.LogFault(contract.FiguresPath, err)
	}
	return all
}

// key is the publication with a time that can be compared with ==.
func (e Edition) key() Edition { return Edition{e.Snapshot, e.Published.UTC().Round(0)} }

// RevisionsIn are the values that a publication has changed.
func RevisionsIn(all map[Edition][]Revision, c *state.Change) []Revision {
	return all[Edition{c.To, c.At}.key()]
}
