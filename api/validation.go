package api

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"questscheduler/fault"
)

// Limits of a validation error.
const (
	maxWrongFields = 20
	maxFieldName   = 80
)

// Rules outside the schema, and the mark of a missing field, which huma names in the
// rule.
const (
	ruleRequired = "is required"
	ruleUnknown  = "is not known here"
	missingMark  = "is missing: "
)

// ruleTexts replace huma's texts. Only they are shown: others may hold a value of the
// input.
var ruleTexts = map[*string]string{
	&validation.MsgUnexpectedProperty:             ruleUnknown,
	&validation.MsgExpectedRFC3339DateTime:        "must be a time such as 2026-02-02T10:00:00Z",
	&validation.MsgExpectedBoolean:                "must be true or false",
	&validation.MsgExpectedNumber:                 "must be a number",
	&validation.MsgExpectedInteger:                "must be a whole number",
	&validation.MsgExpectedString:                 "must be a text",
	&validation.MsgExpectedArray:                  "must be a list",
	&validation.MsgExpectedObject:                 "must be an object",
	&validation.MsgExpectedOneOf:                  "must be one of: %s",
	&validation.MsgExpectedMinimumNumber:          "must be at least %v",
	&validation.MsgExpectedExclusiveMinimumNumber: "must be more than %v",
	&validation.MsgExpectedMaximumNumber:          "must be at most %v",
	&validation.MsgExpectedExclusiveMaximumNumber: "must be less than %v",
	&validation.MsgExpectedMinLength:              "must have at least %d characters",
	&validation.MsgExpectedMaxLength:              "must have at most %d characters",
	&validation.MsgExpectedBePattern:              "must be %s",
	&validation.MsgExpectedMatchPattern:           "must match %s",
	&validation.MsgExpectedMinItems:               "must hold at least %d",
	&validation.MsgExpectedMaxItems:               "must hold at most %d",
	&validation.MsgExpectedMinProperties:          "must hold at least %d",
	&validation.MsgExpectedMaxProperties:          "must hold at most %d",
	&validation.MsgExpectedRequiredProperty:       missingMark + "%s",
}

// parameterRules replace huma's fixed texts on parameters.
var parameterRules = map[string]string{
	"invalid integer":                     "must be a whole number",
	"invalid boolean":                     "must be true or false",
	"invalid float":                       "must be a number",
	"unknown query parameter":             ruleUnknown,
	"required query parameter is missing": ruleRequired,
}

// unifyHuma sets huma's process-wide settings: errors and their texts, case-sensitive
// names of fields, and lists that are never null.
var unifyHuma = sync.OnceFunc(func() {
	huma.NewError = newError
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	for text, rule := range ruleTexts {
		*text = rule
	}
})

// newError answers what huma refuses: validation is 400, since 422 has codes of its
// own.
func newError(status int, _ string, errs ...error) huma.StatusError {
	if status == 0 || status >= http.StatusInternalServerError {
		return ofKind(fault.Internal, errors.Join(errs...))
	}
	invalid := &fault.Error{Kind: fault.Invalid, Message: "Send a JSON object as the body. See /docs for what it takes."}
	for _, err := range errs {
		if wrong, ok := err.(huma.ErrorDetailer); ok {
			invalid.Details = append(invalid.Details, wrongOf(wrong.ErrorDetail()))
		}
	}
	slices.SortFunc(invalid.Details, func(a, b fault.Detail) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Rule, b.Rule))
	})
	invalid.Details = slices.Compact(invalid.Details)
	switch found := len(invalid.Details); {
	case found == 1:
		invalid.Message = invalid.Details[0].Field + " " + invalid.Details[0].Rule
	case found > 1:
		invalid.Message = strconv.Itoa(found) + " fields are not as they must be; detail names them."
		invalid.Details = invalid.Details[:min(found, maxWrongFields)]
	}
	return fromFault(invalid, nil)
}

// wrongOf converts huma's detail without the value.
func wrongOf(said *huma.ErrorDetail) fault.Detail {
	place, at, _ := strings.Cut(said.Location, ".")
	if at == "" {
		at = place
	}
	if name, missing := strings.CutPrefix(said.Message, missingMark); missing {
		return fault.Detail{Field: fieldName(strings.TrimPrefix(at+"."+name, "body.")), Rule: ruleRequired}
	}
	return fault.Detail{Field: fieldName(at), Rule: ruleOf(said)}
}

func ruleOf(said *huma.ErrorDetail) string {
	if rule, ok := parameterRules[said.Message]; ok {
		return rule
	}
	if said.Message == ruleUnknown || strings.HasPrefix(said.Message, "must ") {
		return said.Message
	}
	if said.Location == "body" {
		return "is not JSON that can be read"
	}
	return "cannot be read"
}

// fieldName cuts a name from the input that is too long to help.
func fieldName(name string) string {
	if runes := []rune(name); len(runes) > maxFieldName {
		return string(runes[:maxFieldName]) + "…"
	}
	return name
}
