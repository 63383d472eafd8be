package find

import (
	"maps"
	"slices"
)

// grouping groups entries by texts.
type grouping struct {
	at   map[string]int32 // the number of each text
	last []int32          // by number: the last entry
	uses []use
}

// newGrouping has room for about so many texts.
func newGrouping(texts int) grouping {
	return grouping{make(map[string]int32, texts), make([]int32, 0, texts), make([]use, 0, 2*texts)}
}

// use is an entry with a text.
type use struct{ text, id int32 }

// add adds an entry, which is no less than earlier ones, to those with a text.
func (g *grouping) add(text string, id int32) {
	n, has := g.at[text]
	if !has {
		n = int32(len(g.last))
		g.at[text], g.last = n, append(g.last, none)
	}
	if g.last[n] != id {
		g.last[n], g.uses = id, append(g.uses, use{n, id})
	}
}

// grouped are the entries of texts.
type grouped struct {
	texts []string // sorted
	ends  []int32  // of the entries of the texts before
	ids   []int32  // ascending for each text
}

// at are the entries of the text with a rank.
func (g *grouped) at(rank int) []int32 { return g.ids[g.ends[rank]:g.ends[rank+1]] }

// of are the entries of a text.
func (g *grouped) of(text string) []int32 {
	if rank, has := slices.BinarySearch(g.texts, text); has {
		return g.at(rank)
	}
	return nil
}

// sorted are the entries by text.
func (g *grouping) sorted() grouped {
	texts := slices.AppendSeq(make([]string, 0, len(g.at)), maps.Keys(g.at))
	slices.Sort(texts)
	all := grouped{texts, make([]int32, len(g.at)+1), make([]int32, len(g.uses))}
	ranks := make([]int32, len(g.at))
	for rank, text := range all.texts {
		ranks[g.at[text]] = int32(rank)
	}
	for _, u := range g.uses {
		all.ends[ranks[u.text]+1]++
	}
	for rank := range all.texts {
		all.ends[rank+1] += all.ends[rank]
	}
	next := slices.Clone(all.ends)
	for _, u := range g.uses {
		rank := ranks[u.text]
		all.ids[next[rank]] = u.id
		next[rank]++
	}
	return all
}
