package browse

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Snippet is a program that reads all records of a question.
type Snippet struct{ Language, Code string }

// Lines is how many lines the program has.
func (s Snippet) Lines() int { return strings.Count(strings.TrimSuffix(s.Code, "\n"), "\n") + 1 }

// identifierHere is replaced by the reader with an application identifier.
const identifierHere = "YOUR_APP_IDENTIFIER"

// Snippets are programs that read all records of a list with these parameters, page by page, in
// several languages. base is the address of the list.
func Snippets(base string, filters url.Values) []Snippet {
	csv := url.Values{}
	for name, values := range filters {
		csv[name] = values
	}
	csv.Set("output_format", "csv")
	return []Snippet{
		{"curl", curl(base, csv)},
		{"Python", python(base, filters)},
		{"R", rLanguage(base, filters)},
		{"JavaScript", javaScript(base, filters)},
		{"DuckDB", duckDB(base, csv)},
		{"Power Query", powerQuery(base, filters)},
		{"Google Sheets", appsScript(base, filters)},
	}
}

// pairs are parameters in order, each name with each of its values.
func pairs(values url.Values) (all [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

// shell quotes a text for a shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// double quotes a text as Python and R read it.
func double(text string) string { return strconv.QuoteToASCII(text) }

// script quotes a text as JavaScript reads it.
func script(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string has no error
	}
	return string(quoted)
}

func curl(base string, values url.Values) string {
	return fmt.Sprintf(`list=%s
id='X-HDX-HAPI-APP-IDENTIFIER: %s'
total=$(curl -fsS -H "$id" -I "$list&limit=1" | tr -d '\r' | sed -n 's/^X-Total-Count: //Ip')
for offset in $(seq 0 10000 $((total > 0 ? total - 1 : 0))); do
  curl -fsS --compressed -H "$id" "$list&offset=$offset" |
    if [ "$offset" = 0 ]; then cat; else tail -n +2; fi
done > records.csv
`, shell(base+"?"+values.Encode()), identifierHere)
}

func python(base string, values url.Values) string {
	return fmt.Sprintf(`import pandas as pd
import requests

url = %s
params = [%s]
headers = {"X-HDX-HAPI-APP-IDENTIFIER": "%s"}
pages, offset, total = [], 0, 1
while offset < total:
    page = requests.get(url, params + [("offset", offset)], headers=headers, timeout=60)
    page.raise_for_status()
    pages.append(pd.DataFrame(page.json()["data"]))
    total = int(page.headers["X-Total-Count"])
    offset += 10000
records = pd.concat(pages, ignore_index=True)
`, double(base), joined(values, `(%s, %s)`, double), identifierHere)
}

func rLanguage(base string, values url.Values) string {
	csv := url.Values{"output_format": {"csv"}}
	for name, all := range values {
		csv[name] = all
	}
	return fmt.Sprintf(`list <- %s
headers <- c("X-HDX-HAPI-APP-IDENTIFIER" = "%s")
pages <- list()
repeat {
  address <- sprintf("%%s&offset=%%d", list, 10000L * length(pages))
  page <- read.csv(url(address, headers = headers), colClasses = "character", encoding = "UTF-8")
  pages[[length(pages) + 1]] <- page
  if (nrow(page) < 10000) break
}
records <- type.convert(do.call(rbind, pages), as.is = TRUE, na.strings = "")
`, double(base+"?"+csv.Encode()), identifierHere)
}

func javaScript(base string, values url.Values) string {
	return fmt.Sprintf(`const url = new URL(%s);
for (const [name, value] of [%s]) url.searchParams.append(name, value);
const headers = {"X-HDX-HAPI-APP-IDENTIFIER": "%s"};
const records = [];
for (let offset = 0, total = 1; offset < total; offset += 10000) {
  url.searchParams.set("offset", offset);
  const page = await fetch(url, {headers});
  if (!page.ok) throw new Error(await page.text());
  records.push(...(await page.json()).data);
  total = Number(page.headers.get("X-Total-Count"));
}
`, script(base), joined(values, `[%s, %s]`, script), identifierHere)
}

// joined writes parameters in a form, with commas between them.
func joined(values url.Values, form string, quote func(string) string) string {
	var all []string
	for _, pair := range pairs(values) {
		all = append(all, fmt.Sprintf(form, quote(pair[0]), quote(pair[1])))
	}
	return strings.Join(all, ", ")
}

// sqlText quotes a text as SQL.
func sqlText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// duckDB counts first, since a list of addresses must be known before it is read.
func duckDB(base string, values url.Values) string {
	counts := url.Values{"measures": {"count"}}
	for name, all := range values {
		if name != "fields" {
			counts[name] = all
		}
	}
	id := "&app_identifier=" + identifierHere
	return fmt.Sprintf(`INSTALL httpfs;
LOAD httpfs;
SET VARIABLE total = (SELECT count FROM read_csv(%s));
SET VARIABLE pages = (
  SELECT list(%s || "offset") FROM range(0, greatest(getvariable('total'), 1), 10000) AS r("offset"));
CREATE TABLE records AS FROM read_csv(getvariable('pages'), union_by_name = true);
`, sqlText(base+"/aggregate?"+counts.Encode()+id), sqlText(base+"?"+values.Encode()+id+"&offset="))
}

// mText quotes a text as Power Query's M does.
func mText(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// powerQuery keeps the address of the service constant and gives the rest as RelativePath, without
// which a published report does not refresh.
func powerQuery(base string, values url.Values) string {
	service, path := splitBase(base)
	var query []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all := values[name]
		text := mText(all[0])
		if len(all) > 1 {
			quoted := make([]string, len(all))
			for i, v := range all {
				quoted[i] = mText(v)
			}
			text = "{" + strings.Join(quoted, ", ") + "}"
		}
		query = append(query, "#"+mText(name)+" = "+text)
	}
	query = append(query, `offset = Text.From(offset)`)
	return fmt.Sprintf(`let
  Page = (offset as number) as list => Json.Document(Web.Contents(%s, [
    RelativePath = %s,
    Query = [%s],
    Headers = [#"X-HDX-HAPI-APP-IDENTIFIER" = "%s"]
  ]))[data],
  Pages = List.Generate(
    () => [offset = 0, page = Page(0)],
    each not List.IsEmpty([page]),
    each [offset = [offset] + 10000, page = Page([offset] + 10000)],
    each [page]),
  Records = Table.FromRecords(List.Combine(Pages), null, MissingField.UseNull)
in
  Records
`, mText(service), mText(path), strings.Join(query, ", "), identifierHere)
}

// splitBase splits an address after its host.
func splitBase(base string) (service, path string) {
	u, err := url.Parse(base)
	if err != nil {
		return base, ""
	}
	return u.Scheme + "://" + u.Host, strings.TrimPrefix(u.Path, "/")
}

func appsScript(base string, values url.Values) string {
	return fmt.Sprintf(`function readRecords() {
  const list = %s;
  const options = {headers: {"X-HDX-HAPI-APP-IDENTIFIER": "%s"}};
  const rows = [];
  for (let offset = 0, page; offset === 0 || page.length === 10000; offset += 10000) {
    page = JSON.parse(UrlFetchApp.fetch(list + "&offset=" + offset, options).getContentText()).data;
    if (offset === 0 && page.length > 0) rows.push(Object.keys(page[0]));
    for (const record of page) rows.push(Object.values(record));
  }
  const sheet = SpreadsheetApp.getActiveSheet().clearContents();
  if (rows.length > 0) sheet.getRange(1, 1, rows.length, rows[0].length).setValues(rows);
}
`, script(base+"?"+withLimit(values)), identifierHere)
}

// withLimit are parameters with the greatest limit, so that there always is one.
func withLimit(values url.Values) string {
	all := url.Values{"limit": {"10000"}}
	for name, v := range values {
		all[name] = v
	}
	return all.Encode()
}
