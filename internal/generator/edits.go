package generator

// longAgo is so many days that a row before it is no part of a newest figure: forty years.
const longAgo = 14_610

// edited emits the rows of a file as a later edition has them: of one row in so many, a quarter is
// gone, a quarter has a new row beside it, and half have other figures.
func edited(rows func(emit func(*row)), one int, r *random) func(emit func(*row)) {
	return func(emit func(*row)) {
		rows(func(from *row) {
			if from.fault != "" || from.repeated || r.below(one) > 0 {
				emit(from)
				return
			}
			other := *from // the theme goes on with its own
			switch r.below(4) {
			case 0:
				return
			case 1:
				emit(from)
				other.start -= longAgo // a key that no ordinary row has
				if other.end != noDay {
					other.end -= longAgo
				}
				emit(&other)
			default:
				other.count++
				other.appeal.given++
				if v := &other.values[0]; v.form == fixed || v.form == trimmed {
					v.n = max(0, v.n-1)
				}
				emit(&other)
			}
		})
	}
}
