package contract

import (
	"fmt"
	"slices"
	"strings"
)

// Issue is one error in one parameter.
type Issue struct {
	Type      string
	Param     string
	Part      string // which reading of a parameter with two possible types failed; mostly empty
	Text      string
	Input     string
	NullInput bool // the input is null: the parameter is absent, or its value is withheld

	// The context is a key and its value, a number or a text. It is absent when the key is empty.
	CtxKey  string
	CtxInt  int
	CtxText string
}

// Invalid is the error of a request with invalid parameters. It has the issues of all of them, in
// order.
type Invalid struct {
	Issues    []Issue
	Preferred bool // these are errors only because the client has asked for strict handling
}

func (e *Invalid) Error() string {
	return fmt.Sprintf("api: %d invalid parameters, first %s: %s", len(e.Issues), e.Issues[0].Param, e.Issues[0].Text)
}

// BadDay is the error of a start_date or end_date that has none of the accepted forms. It hides all
// other errors.
type BadDay struct{ Param string }

func (e *BadDay) Error() string {
	return "Invalid " + e.Param + " format. Use YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS"
}

// Forbidden is the error of a request whose identifier is missing or bad.
type Forbidden struct{ Text, Hint string }

func (e *Forbidden) Error() string { return e.Text }

// bound is a kind of limit on a value. The limit is in the text and, with its key, in the context.
type bound struct{ kind, key, text string }

var (
	tooLong      = bound{"string_too_long", "max_length", "String should have at most %d characters"}
	tooShortText = bound{"string_too_short", "min_length", "String should have at least %d characters"}
	tooSmall     = bound{"greater_than_equal", "ge", "Input should be greater than or equal to %d"}
	tooGreat     = bound{"less_than_equal", "le", "Input should be less than or equal to %d"}
)

// issue is the issue of a value beyond a limit.
func (b bound) issue(param, input string, limit int) Issue {
	return Issue{
		Type: b.kind, Param: param, Input: input, Text: fmt.Sprintf(b.text, limit), CtxKey: b.key, CtxInt: limit,
	}
}

// unread are the types and texts of issues of values that are not of a parameter's type.
var unread = [...][2]string{
	Integer: {"int_parsing", "Input should be a valid integer, unable to parse string as an integer"},
	Number:  {"float_parsing", "Input should be a valid number, unable to parse string as a number"},
	Boolean: {"bool_parsing", "Input should be a valid boolean, unable to interpret input"},
}

func notOfType(t Type, param, input string) Issue {
	return Issue{Type: unread[t][0], Param: param, Input: input, Text: unread[t][1]}
}

func notDecimal(param, input string, fault decimalFault) Issue {
	if fault == decimalInfinite {
		return Issue{Type: "finite_number", Param: param, Text: "Input should be a finite number", Input: input}
	}
	return Issue{Type: "decimal_parsing", Param: param, Text: "Input should be a valid decimal", Input: input}
}

func notInEnum(p *Param, input string) Issue {
	text := "Input should be " + p.Enum.Expected
	if p.List && slices.ContainsFunc(p.Enum.Values, func(v string) bool { return strings.Contains(v, ",") }) {
		text += `; in a list, write the comma of a value as \,`
	}
	return Issue{
		Type: "enum", Param: p.Name, Text: text, Input: input, CtxKey: "expected", CtxText: p.Enum.Expected,
	}
}

// tooFew is the issue of an empty list; advice ends the text.
func tooFew(param, advice string) Issue {
	return Issue{
		Type: "too_short", Param: param, CtxKey: "min_length", CtxInt: 1,
		Text: "List should have at least 1 value" + advice,
	}
}

func emptyValue(param, input string, position int) Issue {
	reason := fmt.Sprintf("value %d of the list is empty; separate values by one comma", position)
	return valueError(param, input, reason)
}

func tooMany(param, input string, count, most int, what string) Issue {
	return Issue{
		Type: "too_long", Param: param, Input: input, CtxKey: "max_length", CtxInt: most,
		Text: fmt.Sprintf("List should have at most %d %s, not %d; send the rest in another request",
			most, what, count),
	}
}

// notDateTime is two issues: the parameter may be a date-time or a date, and each reading gives its
// reason.
func notDateTime(param, input string, fault dateTimeFault) []Issue {
	return []Issue{
		{
			Type: "datetime_from_date_parsing", Param: param, Part: "datetime", Input: input,
			Text:   "Input should be a valid datetime or date, " + fault.dateTime,
			CtxKey: "error", CtxText: fault.dateTime,
		},
		{
			Type: "date_from_datetime_parsing", Param: param, Part: "date", Input: input,
			Text:   "Input should be a valid date or datetime, " + fault.date,
			CtxKey: "error", CtxText: fault.date,
		},
	}
}

// valueError is the issue of a value that is not accepted for a reason.
func valueError(param, input, reason string) Issue {
	return Issue{
		Type: "value_error", Param: param, Text: "Value error, " + reason, Input: input,
		CtxKey: "error", CtxText: reason,
	}
}

// WrongSum is the issue of a request for figures that would be wrong. instead is the request that
// gives right ones.
func WrongSum(param, reason, instead string) Issue {
	return Issue{
		Type: "wrong_sum", Param: param, Text: reason + " Right: " + instead, NullInput: true,
		CtxKey: "instead", CtxText: instead,
	}
}

// twoValues is the issue of a parameter that has different values under its names in both sets.
func twoValues(p *Param, input string) Issue {
	reason := p.Name + " and " + p.Twin() + " are two names of one parameter; send one of them, " +
		"or the same value in both"
	return valueError(p.Name, input, reason)
}

func notEmail(param, input, reason string) Issue {
	return Issue{
		Type: "value_error", Param: param, Text: "value is not a valid email address: " + reason,
		Input: input, CtxKey: "reason", CtxText: reason,
	}
}
