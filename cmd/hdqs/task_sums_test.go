package main_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// off is how far a number that a page shows is from another one, in halves of its last digit.
func off(shown string, want float64) float64 {
	shown, _, _ = strings.Cut(strings.NewReplacer(",", ".", "\u202f", "").Replace(shown), " ")
	_, decimals, _ := strings.Cut(shown, ".")
	got, err := strconv.ParseFloat(shown, 64)
	if err != nil {
		return math.Inf(1)
	}
	return math.Abs(got-want) * 2 * math.Pow10(len(decimals))
}

func asShown(shown string, want float64) bool { return off(shown, want) < 1.0000001 }

// compute reduces records of the interface, such as "sum population of PATH" or "newest median
// price by month of PATH", with a program that shares nothing with the sums of the server. "newest"
// takes the records of the last period alone. A result without "by" has the name "".
func (p *person) compute(expression string) map[string]float64 {
	p.t.Helper()
	how, path, _ := strings.Cut(expression, " of ")
	how, isNewest := strings.CutPrefix(how, "newest ")
	how, by, _ := strings.Cut(how, " by ")
	reduction, field, _ := strings.Cut(how, " ")
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	records := p.records(p.t, path+separator+"limit=10000")
	last := ""
	for _, r := range records {
		start, _ := r["reference_period_start"].(string)
		if text, _ := r[field].(string); text != "" || len(numbersOf(r, field)) > 0 {
			last = max(last, start)
		}
	}
	values, texts := map[string][]float64{}, map[string]map[string]bool{}
	for _, r := range records {
		start, _ := r["reference_period_start"].(string)
		if isNewest && start != last {
			continue
		}
		group := ""
		switch by {
		case "month":
			group = start[:len("2006-01")]
		case "year":
			group = start[:len("2006")]
		default:
			if by != "" {
				group = fmt.Sprint(r[by])
			}
		}
		values[group] = append(values[group], numbersOf(r, field)...)
		if texts[group] == nil {
			texts[group] = map[string]bool{}
		}
		if text, is := r[field].(string); is {
			texts[group][text] = true
		}
	}
	return reduced(reduction, values, texts)
}

// numbersOf are the number of a record, or two for a part of something: none where one is missing.
func numbersOf(r map[string]any, field string) (numbers []float64) {
	for name := range strings.SplitSeq(field, "/") {
		number, is := r[name].(float64)
		if !is {
			return nil
		}
		numbers = append(numbers, number)
	}
	return numbers
}

func reduced(reduction string, values map[string][]float64, texts map[string]map[string]bool) map[string]float64 {
	result := map[string]float64{}
	for group, all := range values {
		if len(all) == 0 {
			continue
		}
		if reduction == "percent" {
			part, whole := 0.0, 0.0
			for i := 0; i < len(all); i += 2 {
				part, whole = part+all[i], whole+all[i+1]
			}
			result[group] = part / whole * 100
		}
		slices.Sort(all)
		switch reduction {
		case "sum":
			for _, value := range all {
				result[group] += value
			}
		case "median":
			result[group] = (all[(len(all)-1)/2] + all[len(all)/2]) / 2
		}
	}
	if reduction == "distinct" {
		for group, all := range texts {
			result[group] = float64(len(all))
		}
	}
	return result
}
