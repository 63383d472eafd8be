package browse

import (
	"fmt"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

// Download is all records of a question as a file.
type Download struct {
	Text, Address string
	Size          string // about; empty if it is not known
	Refused       string // why there is none; empty if there is
}

// DownloadPath is the last part of the addresses of downloads, after that of the page.
const DownloadPath = "/download"

// downloads are the files of all records that pass. Sizes are those of the shown records, times
// their number.
func downloads(q *Question, s state, answer *Answer) []Download {
	var all []Download
	size := map[string]string{}
	if records := answer.Records; len(records) > 0 {
		each := func(bytes int) string {
			return q.Language.T("about %s", bytesText(q.Language, bytes*answer.Total/len(records)))
		}
		size[contract.FormatJSON] = each(answer.Bytes)
		size[contract.FormatNDJSON] = size[contract.FormatJSON]
		size[contract.FormatCSV] = each(textual.CSVBytes(records))
		size[contract.FormatExcelCSV] = size[contract.FormatCSV]
	}
	path := q.Root + "/browse/" + q.Plan.Endpoint.Name() + DownloadPath // files have no language
	at := state{path: path, values: s.copy(append(own, "limit")...)}
	for _, f := range q.Plan.Endpoint.ExportFormats() {
		d := Download{Text: q.Language.T(f.Title), Address: at.with(formatParam, f.Name), Size: size[f.Name]}
		most := q.MaxExport
		if f.Name == contract.FormatXLSX {
			most = min(most, contract.MaxSheetRows)
		}
		if answer.Total > most {
			d.Refused = q.Language.T("has at most %s records; filter, or take another format", Count(most))
		}
		all = append(all, d)
	}
	return all
}

// bytesText is a number of bytes with two digits that count.
func bytesText(l *lang.Language, n int) string {
	units := []string{l.T("bytes"), "kB", "MB", "GB"}
	value, unit := float64(n), 0
	for value >= 1000 && unit+1 < len(units) {
		value, unit = value/1000, unit+1
	}
	text := fmt.Sprintf("%.0f", value)
	if unit > 0 && value < 10 {
		text = l.Number(fmt.Sprintf("%.1f", value))
	}
	return text + "\u00a0" + units[unit]
}
