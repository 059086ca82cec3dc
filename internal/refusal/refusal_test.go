package refusal_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/googleapi"

	"questscheduler/fault"
	"questscheduler/internal/refusal"
)

var table = append(refusal.Table{
	{Call: "watch", Reasons: []string{"refused"}, Kind: fault.Provider, Code: "webhook", Operator: "check the address"},
	{Status: 403, Reasons: []string{"scope", "SCOPE"}, Kind: fault.Revoked, Code: "relink", Message: "Link again."},
	{Status: 403, Kind: fault.Forbidden, Message: "Ask for access."},
	{Text: "no such person", Kind: fault.NotFound, Message: "Correct the address."},
}, refusal.Usual("wait", "later", "no")...)

func TestTable_EachAnswer_HasTheFirstMatchingRow(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer refusal.Answer
		kind   fault.Kind
		code   string
		text   string
	}{
		"reason of this call": {
			refusal.Answer{Call: "watch", Status: 401, Reasons: []string{"refused"}}, fault.Provider, "webhook",
			"watch: 401 refused; check the address",
		},
		"reason of another call": {
			refusal.Answer{Call: "get", Status: 401, Reasons: []string{"refused"}}, fault.Provider, "refused",
			"no: get: 401 refused",
		},
		"one of several reasons": {
			refusal.Answer{Call: "get", Status: 403, Reasons: []string{"other", "SCOPE"}}, fault.Revoked, "relink",
			"Link again.: get: 403 other,SCOPE",
		},
		"status alone": {
			refusal.Answer{Call: "get", Status: 403, Reasons: []string{"other"}}, fault.Forbidden, "",
			"Ask for access.: get: 403 other",
		},
		"text in another case": {
			refusal.Answer{Call: "get", Status: 400, Text: "No Such Person: secret"}, fault.NotFound, "",
			"Correct the address.: get: 400 (no such person)",
		},
		"status 429":                {refusal.Answer{Call: "get", Status: 429}, fault.RateLimited, "", "wait: get: 429"},
		"status 408":                {refusal.Answer{Call: "get", Status: 408}, fault.Unavailable, "", "later: get: 408"},
		"any failure of the server": {refusal.Answer{Call: "get", Status: 599}, fault.Unavailable, "", "later: get: 599"},
		"nothing known":             {refusal.Answer{Call: "get"}, fault.Provider, "", "no: get:"},
	} {
		row.answer.RetryAfter = time.Minute
		err := table.Error(row.answer)
		if err.Kind != row.kind || err.Code != row.code || err.Error() != row.text || err.RetryAfter != time.Minute {
			t.Errorf("%s: %v, code %q, wait %v: %q; want %v, %q, %q", name, err.Kind, err.Code, err.RetryAfter, err, row.kind, row.code, row.text)
		}
		if answer, ok := errors.AsType[refusal.Answer](err); !ok || answer.Status != row.answer.Status {
			t.Errorf("%s: the answer is not in the error", name)
		}
		if text := fmt.Sprintf("%#v", err); strings.Contains(text, "secret") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if !table.Knows("SCOPE") || table.Knows("other") {
		t.Error("a table does not know its own reasons alone")
	}
}

func TestGoogle_EachError_HoldsNothingOfTheAnswer(t *testing.T) {
	t.Parallel()
	refused := &googleapi.Error{
		Code: 403, Message: "secret", Body: "secret", Header: http.Header{"Retry-After": {"7"}},
		Errors:  []googleapi.ErrorItem{{Reason: "other"}, {Reason: "secret, and more"}},
		Details: []any{map[string]any{"reason": "scope"}, map[string]any{"reason": 7}, "secret"},
	}
	kinded := fault.New(fault.RateLimited, "the budget is used up")
	for name, row := range map[string]struct {
		err  error
		kind fault.Kind
		wait time.Duration
		text string
	}{
		"an answer":            {fmt.Errorf("call: %w", refused), fault.Revoked, 7 * time.Second, "Link again.: get: 403 other,scope"},
		"no answer":            {&url.Error{Op: "Get", URL: "https://secret", Err: errors.New("EOF")}, fault.Unavailable, 0, "later: get: EOF"},
		"an error with a kind": {fmt.Errorf("before: %w", kinded), fault.RateLimited, 0, "get: the budget is used up"},
	} {
		err := table.Google("get", row.err, time.Now())
		if fault.KindOf(err) != row.kind || fault.RetryAfter(err) != row.wait || err.Error() != row.text {
			t.Errorf("%s: %v, wait %v: %q; want %v, %v, %q", name, fault.KindOf(err), fault.RetryAfter(err), err, row.kind, row.wait, row.text)
		}
	}
}
