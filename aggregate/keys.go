package aggregate

import "math/bits"

// keys numbers the groups that occur. The key of a group is the digits of its
// inputs, as in a number with several radixes. Dense keys are the ids of groups; other keys get the
// next free id when they first appear.
type keys struct {
	p        *plan
	groups   interner
	raw      []*interner // of inputs without a space: their values
	rehashed []*interner // of inputs that rehash: the keys of the inputs before
}

func newKeys(p *plan) *keys {
	k := &keys{p: p, raw: make([]*interner, len(p.inputs)), rehashed: make([]*interner, len(p.inputs))}
	for i, in := range p.inputs {
		if in.raw != nil {
			k.raw[i] = &interner{}
		}
		if in.rehash {
			k.rehashed[i] = &interner{}
		}
	}
	return k
}

// len is the number above all ids.
func (k *keys) len() int {
	if k.p.dense {
		return int(k.p.size)
	}
	return len(k.groups.keys)
}

// of is the group of a key.
func (k *keys) of(key uint64) (uint32, error) {
	if k.p.dense || len(k.p.inputs) == 0 {
		return uint32(key), nil
	}
	id := k.groups.id(key)
	if len(k.groups.keys) > k.p.maxGroups {
		return 0, &TooManyGroups{Max: k.p.maxGroups}
	}
	return id, nil
}

// add sets the group of each row of a block.
func (k *keys) add(b *block) error {
	if len(k.p.inputs) == 0 {
		b.ids, b.id = nil, 0
		return nil
	}
	b.ids = b.idSpace[:b.Len()]
	if k.p.dense {
		k.addDense(b)
		return nil
	}
	sums := b.keys[:b.Len()]
	clear(sums)
	for i, in := range k.p.inputs {
		if in.rehash {
			if err := k.intern(k.rehashed[i], sums, b.scratch); err != nil {
				return err
			}
			for j, id := range b.scratch[:b.Len()] {
				sums[j] = uint64(id)
			}
		}
		if in.raw == nil {
			digits := in.digits
			for j, code := range b.codesOf(in.space) {
				sums[j] = sums[j]*in.radix + uint64(digits[code])
			}
			continue
		}
		if err := k.intern(k.raw[i], b.tokens(in.raw.c), b.scratch); err != nil {
			return err
		}
		for j, id := range b.scratch[:b.Len()] {
			sums[j] = sums[j]*in.radix + uint64(id)
		}
	}
	return k.intern(&k.groups, sums, b.ids)
}

func (k *keys) addDense(b *block) {
	ids := b.ids
	for i, in := range k.p.inputs {
		codes, digits, stride := b.codesOf(in.space), in.digits, uint32(in.stride)
		codes = codes[:len(ids)]
		if i == 0 {
			for j, code := range codes {
				ids[j] = digits[code] * stride
			}
			continue
		}
		for j, code := range codes {
			ids[j] += digits[code] * stride
		}
	}
}

// intern sets ids to the numbers of keys.
func (k *keys) intern(in *interner, keys []uint64, ids []uint32) error {
	ids = ids[:len(keys)]
	for i, key := range keys {
		if i > 0 && key == keys[i-1] {
			ids[i] = ids[i-1]
			continue
		}
		ids[i] = in.id(key)
	}
	if len(in.keys) > k.p.maxGroups {
		return &TooManyGroups{Max: k.p.maxGroups}
	}
	return nil
}

// digits writes the digit of each input for a group: of inputs without a space, the packed number.
func (k *keys) digits(id uint32, dst []uint64) {
	key := uint64(id)
	if !k.p.dense && len(k.p.inputs) > 0 {
		key = k.groups.keys[id]
	}
	for i := len(k.p.inputs) - 1; i >= 0; i-- {
		in := k.p.inputs[i]
		if dst[i] = key; i > 0 { // the first digit is what the others leave
			dst[i] = key % in.radix
			key /= in.radix
		}
		if in.raw != nil {
			dst[i] = k.raw[i].keys[dst[i]]
		}
		if in.rehash {
			key = k.rehashed[i].keys[key]
		}
	}
}

// interner numbers keys in the order in which they appear. It is a hash table with open addressing,
// at most half full.
type interner struct {
	keys  []uint64
	table []uint32 // number of a key, plus 1; 0 is free
	shift int
}

func (t *interner) id(key uint64) uint32 {
	if 2*len(t.keys) >= len(t.table) {
		t.grow()
	}
	at := key * 0x9e3779b97f4a7c15 >> t.shift
	for {
		n := t.table[at]
		if n == 0 {
			t.keys = append(t.keys, key)
			t.table[at] = uint32(len(t.keys))
			return uint32(len(t.keys) - 1)
		}
		if t.keys[n-1] == key {
			return n - 1
		}
		at = (at + 1) & uint64(len(t.table)-1)
	}
}

func (t *interner) grow() {
	size := max(256, 2*len(t.table))
	t.table = make([]uint32, size)
	t.shift = 64 - bits.TrailingZeros(uint(size))
	for i, key := range t.keys {
		at := key * 0x9e3779b97f4a7c15 >> t.shift
		for t.table[at] != 0 {
			at = (at + 1) & uint64(size-1)
		}
		t.table[at] = uint32(i + 1)
	}
}
