package figures

import (
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
	of, codes := kept.figures[h.Name], c.codes
	if !c.chosen {
		codes = slices.Sorted(maps.Keys(of.lines))
	}
	for _, code := range codes {
		if of.lines[code] == nil {
			continue
		}
		p, err := of.place(code)
		if err != nil {
			return nil, err
		}
		for _, entry := range p.Was {
			edition, err := kept.editionOf(a.Served, entry.At)
			if err != nil {
				return nil, err
			}
			found.records = append(found.records, entry.record(h, code, edition))
		}
	}
	began := kept.Began
	if began.Snapshot == "" {
		began = publicationOf(a.Served)
	}
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

// editionOf is the publication that an entry began with.
func (k *Kept) editionOf(v *state.Served, at int) (Edition, error) {
	switch {
	case at == 0:
		return publicationOf(v), nil
	case at < 0 || at > len(k.Earlier):
		return Edition{}, errNoEdition
	}
	return k.Earlier[at-1], nil
}

func (e *keptEntry) record(h *contract.Headline, code string, at Edition) []any {
	var value any
	if e.Value != "" {
		value = number(e.Value)
	}
	published := aggregate.Value{Kind: aggregate.Time, Int: at.Published.Truncate(time.Second).UnixMicro()}
	return []any{
		textOf(code), published, textOf(at.Snapshot), value, textOf(h.Unit), valueOf(aggregate.Time, e.Start),
		valueOf(aggregate.Time, e.End), valueOf(aggregate.Int, e.Level), e.Redefined,
	}
}

// Revision is a value of a figure that a publication has changed.
type Revision struct {
	Figure        *contract.Headline
	Place         string
	Before, After string // as JSON has them; empty for null
}

type revisionsKey struct{}

// RevisionsOf are the values that publications have changed, as far as those of a snapshot are
// kept, in the order of the figures, then of the codes of places. The first values that were kept,
// and those of another declaration, are no changes.
func RevisionsOf(s *list.Lists, v *state.Served) map[Edition][]Revision {
	all, err := list.MadeOf(v, revisionsKey{}, func() (map[Edition][]Revision, error) {
		all, kept := map[Edition][]Revision{}, keptOf(s, v)
		if kept == nil {
			return all, nil
		}
		for _, h := range contract.AllHeadlines() {
			of := kept.figures[h.Name]
			if of == nil {
				continue
			}
			for _, code := range slices.Sorted(maps.Keys(of.lines)) {
				p, err := of.place(code)
				if err != nil {
					return nil, err
				}
				for i, entry := range p.Was[:max(0, len(p.Was)-1)] {
					edition, err := kept.editionOf(v, entry.At)
					if err != nil {
						return nil, err
					}
					if !entry.Redefined {
						edition = edition.key()
						all[edition] = append(all[edition], Revision{h, code, p.Was[i+1].Value, entry.Value})
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
