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

// Snippets are programs that read all records of a list with these parameters, in several
// languages. base is the address of the list. All but one ask for an export, which is one answer
// however many records there are.
func Snippets(base string, filters url.Values) []Snippet {
	export := base + "/export"
	return []Snippet{
		{"curl", curl(export, in("csv", filters))},
		{"Python", python(export, in("parquet", filters))},
		{"R", rLanguage(export, in("csv", filters))},
		{"JavaScript", javaScript(export, in("json", filters))},
		{"DuckDB", duckDB(export, in("parquet", filters))},
		{"Power Query", powerQuery(export, in("json", filters))},
		{"Google Sheets", appsScript(base, filters)},
	}
}

// in are parameters with a format.
func in(format string, filters url.Values) url.Values {
	values := maps.Clone(filters)
	values.Set(formatParam, format)
	return values
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

func curl(export string, values url.Values) string {
	return fmt.Sprintf(`curl -fsS --compressed -o records.csv \
  -H 'X-HDX-HAPI-APP-IDENTIFIER: %s' \
  %s
`, identifierHere, shell(export+"?"+values.Encode()))
}

func python(export string, values url.Values) string {
	return fmt.Sprintf(`import pandas as pd  # pip install pandas pyarrow

records = pd.read_parquet(
    %s,
    storage_options={"X-HDX-HAPI-APP-IDENTIFIER": "%s"},
)
`, double(export+"?"+values.Encode()), identifierHere)
}

// rLanguage saves the answer first: read.csv would take an answer that is cut short for the whole.
func rLanguage(export string, values url.Values) string {
	return fmt.Sprintf(`options(timeout = 3600)
file <- tempfile(fileext = ".csv")
download.file(
  %s,
  file, mode = "wb", quiet = TRUE, headers = c("X-HDX-HAPI-APP-IDENTIFIER" = "%s"))
records <- read.csv(file, colClasses = "character", encoding = "UTF-8")
records <- type.convert(records, as.is = TRUE, na.strings = "")
`, double(export+"?"+values.Encode()), identifierHere)
}

func javaScript(export string, values url.Values) string {
	return fmt.Sprintf(`const url = new URL(%s);
for (const [name, value] of [%s]) url.searchParams.append(name, value);
const answer = await fetch(url, {headers: {"X-HDX-HAPI-APP-IDENTIFIER": "%s"}});
if (!answer.ok) throw new Error(await answer.text());
const records = (await answer.json()).data;
`, script(export), joined(values, `[%s, %s]`, script), identifierHere)
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

func duckDB(export string, values url.Values) string {
	address := export + "?" + values.Encode() + "&app_identifier=" + identifierHere
	return fmt.Sprintf(`INSTALL httpfs;
LOAD httpfs;
CREATE TABLE records AS FROM read_parquet(
  %s);
`, sqlText(address))
}

// mText quotes a text as Power Query's M does.
func mText(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// powerQuery keeps the address of the service constant and gives the rest as RelativePath, without
// which a published report does not refresh.
func powerQuery(export string, values url.Values) string {
	service, path := splitBase(export)
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
	return fmt.Sprintf(`let
  Answer = Json.Document(Web.Contents(%s, [
    RelativePath = %s,
    Query = [%s],
    Headers = [#"X-HDX-HAPI-APP-IDENTIFIER" = "%s"],
    Timeout = #duration(0, 1, 0, 0)
  ])),
  Records = Table.FromRecords(Answer[data], null, MissingField.UseNull)
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

// appsScript reads page by page: Google's fetch takes no answer of more than 50 MB.
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
