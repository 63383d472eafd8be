package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hdqs/api/say"
	"hdqs/internal/nearest"
)

// Issue is one error in one parameter.
type Issue struct {
	Type      string
	Param     string
	Text      say.Text // what is wrong, and what helps
	Input     string
	NullInput bool      // the input is null: the parameter is absent, or its value is withheld
	Instead   *Question // the question that is right, nil if that is not known
	Details   *Details  // nil if there are none
}

// Details are what only some issues have. Most 422s are of one issue without them.
type Details struct {
	Part  string // which reading of a parameter with two possible types failed
	Meant string // the parameter or value that was probably meant, empty if that is not known

	// The context is a key and its value, a number or a text. It is absent when the key is empty.
	Key    string
	Number int
	Text   string
}

// Detail returns the details of an issue, zero if there are none.
func (i *Issue) Detail() Details {
	if i.Details == nil {
		return Details{}
	}
	return *i.Details
}

// Message is what is wrong, and the request that is right if it is known.
func (i *Issue) Message() say.Text {
	if i.Instead == nil {
		return i.Text
	}
	return say.Join(i.Text, say.Of("Right: %s", i.Details.Text))
}

// Invalid is the error of a request with invalid parameters. It has the issues of all of them, in
// order.
type Invalid struct {
	Issues    []Issue
	Preferred bool // these are errors only because the client has asked for strict handling
}

func (e *Invalid) Error() string {
	return fmt.Sprintf("api: %d invalid parameters, first %s: %s", len(e.Issues), e.Issues[0].Param,
		e.Issues[0].Message())
}

// BadDay is the error of a start_date or end_date that has none of the accepted forms. It hides all
// other errors.
type BadDay struct{ Param string }

func (e *BadDay) Error() string { return e.Text().String() }

// Text is what is wrong, and which forms there are.
func (e *BadDay) Text() say.Text {
	return say.Join(say.Of("Invalid %s format.", e.Param),
		say.Of("Use YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS"))
}

// Forbidden is the error of a request whose identifier is missing or bad.
type Forbidden struct{ Text, Hint string }

func (e *Forbidden) Error() string { return e.Text }

// bound is a kind of limit on a value. The limit is in the text and, with its key, in the context.
type bound struct{ kind, key, text string }

var (
	tooLong      = bound{"string_too_long", "max_length", "String should have at most %s characters"}
	tooShortText = bound{"string_too_short", "min_length", "String should have at least %s characters"}
	tooSmall     = bound{"greater_than_equal", "ge", "Input should be greater than or equal to %s"}
	tooGreat     = bound{"less_than_equal", "le", "Input should be less than or equal to %s"}
)

// issue is the issue of a value beyond a limit.
func (b bound) issue(param, input string, limit int) Issue {
	return Issue{
		Type: b.kind, Param: param, Input: input, Text: say.Of(b.text, limit),
		Details: &Details{Key: b.key, Number: limit},
	}
}

// unread are the types and texts of issues of values that are not of a parameter's type.
var unread = [...][2]string{
	Integer: {"int_parsing", "Input should be a valid integer, unable to parse string as an integer"},
	Number:  {"float_parsing", "Input should be a valid number, unable to parse string as a number"},
	Boolean: {"bool_parsing", "Input should be a valid boolean, unable to interpret input"},
}

func notOfType(t Type, param, input string) Issue {
	return Issue{Type: unread[t][0], Param: param, Input: input, Text: say.Text{Format: unread[t][1]}}
}

func notDecimal(param, input string, fault decimalFault) Issue {
	if fault == decimalInfinite {
		return Issue{Type: "finite_number", Param: param, Text: say.Of("Input should be a finite number"), Input: input}
	}
	return Issue{Type: "decimal_parsing", Param: param, Text: say.Of("Input should be a valid decimal"), Input: input}
}

func notInEnum(p *Param, input string) Issue {
	expected := p.Enum.Expected
	if p.List && slices.ContainsFunc(p.Enum.Values, func(v string) bool { return strings.Contains(v, ",") }) {
		expected += `; in a list, write the comma of a value as \,`
	}
	return Issue{
		Type: "enum", Param: p.Name, Text: say.Of("Input should be %s", expected), Input: input,
		Details: &Details{Meant: meantValue(p.Enum, input), Key: "expected", Text: p.Enum.Expected},
	}
}

// meantValue is the value of an enumeration that was probably meant, empty if none is near.
func meantValue(of *Enum, input string) string {
	input = strings.ReplaceAll(strings.ToLower(input), " ", "_")
	return cmp.Or(nearest.Of(input, of.Values), nearest.Of(strings.ToUpper(input), of.Values))
}

// tooFew is the issue of an empty list; advice ends the text.
func tooFew(param, advice string) Issue {
	return Issue{
		Type: "too_short", Param: param, Text: say.Of("List should have at least 1 value%s", advice),
		Details: &Details{Key: "min_length", Number: 1},
	}
}

func emptyValue(param, input string, position int) Issue {
	return valueError(param, input, "value %s of the list is empty; separate values by one comma", position)
}

func tooManyValues(param, input string, count int) Issue {
	return tooMany(param, input, count, MaxValues,
		"List should have at most %s values, not %s; send the rest in another request")
}

func tooMany(param, input string, count, most int, format string) Issue {
	return Issue{
		Type: "too_long", Param: param, Input: input, Text: say.Of(format, most, count),
		Details: &Details{Key: "max_length", Number: most},
	}
}

// notDateTime is two issues: the parameter may be a date-time or a date, and each reading gives its
// reason.
func notDateTime(param, input string, fault dateTimeFault) []Issue {
	return []Issue{
		{
			Type: "datetime_from_date_parsing", Param: param, Input: input,
			Text:    say.Of("Input should be a valid datetime or date, %s", fault.dateTime),
			Details: &Details{Part: "datetime", Key: "error", Text: fault.dateTime},
		},
		{
			Type: "date_from_datetime_parsing", Param: param, Input: input,
			Text:    say.Of("Input should be a valid date or datetime, %s", fault.date),
			Details: &Details{Part: "date", Key: "error", Text: fault.date},
		},
	}
}

// valueError is the issue of a value that is not accepted for a reason, a format with arguments.
func valueError(param, input, reason string, args ...any) Issue {
	return Issue{
		Type: "value_error", Param: param, Text: say.Of("Value error, "+reason, args...), Input: input,
		Details: &Details{Key: "error", Text: say.Of(reason, args...).String()},
	}
}

// WrongSum is the issue of a request for figures that would be wrong. instead is the question that
// gives right ones at the same path, nil if it was not looked for.
func WrongSum(param string, reason say.Text, path string, instead *Question) Issue {
	issue := Issue{Type: "wrong_sum", Param: param, Text: reason, Instead: instead, NullInput: true}
	if instead != nil {
		issue.Details = &Details{Key: "instead", Text: path + "?" + instead.Text()}
	}
	return issue
}

// twoValues is the issue of a parameter that has different values under its names in both sets.
func twoValues(p *Param, input string) Issue {
	return valueError(p.Name, input, "%s and %s are two names of one parameter; send one of them, "+
		"or the same value in both", p.Name, p.Twin())
}

func notEmail(param, input, reason string) Issue {
	return Issue{
		Type: "value_error", Param: param, Text: say.Of("value is not a valid email address: %s", reason),
		Input: input, Details: &Details{Key: "reason", Text: reason},
	}
}

func extraForbidden(name string, hint say.Text) Issue {
	text := say.Of("Extra inputs are not permitted")
	if !hint.IsZero() {
		text = say.Of("Extra inputs are not permitted: %s", hint)
	}
	return Issue{Type: "extra_forbidden", Param: name, Text: text, NullInput: true}
}
