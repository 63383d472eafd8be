package browse

import (
	"slices"
	"strings"

	"hdqs/api/contract"
)

// addNational names countries of which sums of the units of one level, which the address asks for,
// differ from the figure of the whole country.
func (x *figure) addNational(
	q *Question, s state, rows *contract.Question, fields []string, measure string,
) error {
	const place = "location_code"
	levels := rows.Texts(levelParam)
	if len(levels) == 0 || levels[0] == "0" || !strings.HasPrefix(measure, "sum:") {
		return nil
	}
	if !slices.Contains(fields, place) {
		fields = append(slices.Clone(fields), place)
	}
	read := func(level string) (figures map[string]string, of map[string][]string, err error) {
		records, _, err := q.groups(rows.Copy().Keep(levelParam, level), fields, measure)
		if _, wrong := Problems(err); wrong {
			return nil, nil, nil // there is no such figure
		}
		figures, of = map[string]string{}, map[string][]string{}
		for _, r := range records {
			key := strings.Join(fieldsOf(r, fields...), "\x00")
			code, _ := r.Text(place)
			figures[key], _ = r.Text(strings.ReplaceAll(measure, ":", "_"))
			of[code] = append(of[code], key)
		}
		return figures, of, err
	}
	shown, keys, err := read(levels[0])
	if err != nil {
		return err
	}
	whole, of, err := read(contract.Coarsest)
	if err != nil {
		return err
	}
	for _, c := range q.known.countries {
		differs := func(key string) bool { return whole[key] != shown[key] }
		switch own := of[c.Code]; {
		case len(own) == 0 || !slices.ContainsFunc(slices.Concat(own, keys[c.Code]), differs) || len(keys[c.Code]) == 0:
		case len(own) == 1:
			number := q.Language.Number(plainDigits(whole[own[0]]))
			x.Limit.National = append(x.Limit.National, q.Language.T("%[1]s: %[2]s", c.Name, number))
		default:
			x.Limit.National = append(x.Limit.National, c.Name)
		}
	}
	if len(x.Limit.National) > maxLeftOut {
		x.Limit.National = append(x.Limit.National[:maxLeftOut], "…")
	}
	if len(x.Limit.National) > 0 {
		x.Limit.Coarsest = s.with(levelParam, contract.Coarsest)
	}
	return nil
}
