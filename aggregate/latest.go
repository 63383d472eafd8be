package aggregate

// periods ranks the periods of rows: the later the end, and then the start, the higher.
type periods struct {
	end, start   *column // nil if there is none
	ends, starts []uint64
}

// periodRanks returns the ranks of periods by the codes of their spaces.
func (t *Table) periodRanks() *periods {
	p := &periods{end: t.end, start: t.start}
	if t.end != nil {
		d := t.end.values()
		p.ends = make([]uint64, t.end.space.Size())
		for code := range p.ends {
			p.ends[code] = uint64(d.number(uint32(code))) << 32 // null is the last
		}
	}
	if t.start != nil {
		d := t.start.values()
		p.starts = make([]uint64, t.start.space.Size())
		for code := range p.starts {
			if n := d.number(uint32(code)); int(n) < d.n { // null is the first
				p.starts[code] = uint64(n) + 1
			}
		}
	}
	return p
}

// latest keeps the newest period of each group and the value there. Rows of the newest period with
// different values, null being one, make the group differ.
type latest struct {
	c     *column
	p     *periods
	found []newest
	ranks []uint64
}

type newest struct {
	rank   uint64 // plus 1; 0 is no row
	token  uint64
	differ bool
}

func (l *latest) grow(groups int) { l.found = grown(l.found, groups) }

func (l *latest) add(b *block) error {
	ranks := l.ranks[:b.Len()]
	for i := range ranks {
		ranks[i] = 1
	}
	if l.p.end != nil {
		for i, code := range b.codesOf(l.p.end.space) {
			ranks[i] += l.p.ends[code]
		}
	}
	if l.p.start != nil {
		for i, code := range b.codesOf(l.p.start.space) {
			ranks[i] += l.p.starts[code]
		}
	}
	tokens := b.tokens(l.c)
	if b.ids == nil {
		for i, token := range tokens {
			l.see(b.id, newest{rank: ranks[i], token: token})
		}
		return nil
	}
	ids := b.ids[:len(tokens)]
	for i, token := range tokens {
		l.see(ids[i], newest{rank: ranks[i], token: token})
	}
	return nil
}

func (l *latest) see(id uint32, n newest) {
	have := &l.found[id]
	switch {
	case n.rank > have.rank:
		*have = n
	case n.rank == have.rank && (n.token != have.token || n.differ):
		have.differ = true
	}
}

func (l *latest) value(id uint32, _ Func, _ uint32) Value {
	switch n := l.found[id]; {
	case n.rank == 0:
		return Value{}
	case n.differ:
		return Value{Kind: Differ}
	default:
		return l.c.tokenValue(n.token)
	}
}
