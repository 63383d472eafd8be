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

// sorted returns the texts in order, and the rank of each number.
func (g *grouping) sorted() (texts []string, ranks []int32) {
	texts, ranks = slices.Sorted(maps.Keys(g.at)), make([]int32, len(g.at))
	for i, text := range texts {
		ranks[g.at[text]] = int32(i)
	}
	return texts, ranks
}

// groups are the entries of each text, in the order of ranks, or without them of numbers.
func (g *grouping) groups(ranks []int32) groups {
	at := func(u use) int32 {
		if ranks == nil {
			return u.text
		}
		return ranks[u.text]
	}
	all := groups{make([]int32, len(g.last)+1), make([]int32, len(g.uses))}
	for _, u := range g.uses {
		all.ends[at(u)+1]++
	}
	for i := range g.last {
		all.ends[i+1] += all.ends[i]
	}
	next := slices.Clone(all.ends)
	for _, u := range g.uses {
		all.ids[next[at(u)]] = u.id
		next[at(u)]++
	}
	return all
}

// groups are entries, ascending in each group.
type groups struct {
	ends []int32 // of the groups before
	ids  []int32
}

func (g groups) at(i int32) []int32 { return g.ids[g.ends[i]:g.ends[i+1]] }
