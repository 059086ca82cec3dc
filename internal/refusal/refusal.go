// Package refusal gives the refusals of other services (Google, Discord) kinds. Each service
// has a Table of its own; matching, what an error says and how long to wait is the same for
// all.
package refusal

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/fault"
)

// Answer is a service's refusal of a call. It is the cause inside of an error, and then holds
// nothing that could be a secret (address, header, body).
type Answer struct {
	// Call names what was called, as logs show it.
	Call   string
	Status int
	// Reasons are the service's codes, safe to log.
	Reasons []string
	// Text is the service's message, absent in an error: it can hold anything.
	Text string
	// RetryAfter is how long the service asks to wait; zero if it does not say.
	RetryAfter time.Duration
}

// Error names the call, the status and the reasons.
func (a Answer) Error() string {
	text := a.Call + ":"
	if a.Status != 0 {
		text += " " + strconv.Itoa(a.Status)
	}
	if len(a.Reasons) > 0 {
		text += " " + strings.Join(a.Reasons, ",")
	}
	return text
}

// Row says what a refusal means. An empty condition matches everything.
type Row struct {
	// Call is Answer's.
	Call string
	// Status is the HTTP status; 500 stands for all of 5xx.
	Status int
	// Reasons are those of which the answer has one.
	Reasons []string
	// Text is part of the service's message, in any case.
	Text string

	// Kind, Code and Message are the error's; without a code, one of kind Provider gets the
	// answer's first reason as its code.
	Kind    fault.Kind
	Code    string
	Message string
	// Operator is what the operator can do; it is logged, never shown to users.
	Operator string
}

// Table is the meaning of a service's refusals: the first row that matches counts. The last
// row must match everything.
type Table []Row

// Usual are the last rows of a service's table: rates, failures of the server, and refusals
// for good. It takes their messages.
func Usual(wait, later, refused string) Table {
	return Table{
		{Status: 429, Kind: fault.RateLimited, Message: wait},
		{Status: 408, Kind: fault.Unavailable, Message: later},
		{Status: 500, Kind: fault.Unavailable, Message: later},
		{Kind: fault.Provider, Message: refused},
	}
}

// Row returns the row of an answer.
func (t Table) Row(a Answer) Row {
	return t[slices.IndexFunc(t, func(r Row) bool { return r.matches(a) })]
}

func (r Row) matches(a Answer) bool {
	return (r.Call == "" || r.Call == a.Call) &&
		(r.Status == 0 || r.Status == min(a.Status, 500)) &&
		(r.Reasons == nil || slices.ContainsFunc(a.Reasons, func(reason string) bool { return slices.Contains(r.Reasons, reason) })) &&
		strings.Contains(strings.ToLower(a.Text), strings.ToLower(r.Text))
}

// Knows reports whether a row has the reason.
func (t Table) Knows(reason string) bool {
	return slices.ContainsFunc(t, func(r Row) bool { return slices.Contains(r.Reasons, reason) })
}

// Error makes the error of an answer.
func (t Table) Error(a Answer) *fault.Error {
	r := t.Row(a)
	a.Text = ""
	refused := &fault.Error{Kind: r.Kind, Message: r.Message, Code: r.Code, Err: a, RetryAfter: a.RetryAfter}
	if r.Text != "" {
		refused.Err = fmt.Errorf("%w (%s)", refused.Err, r.Text)
	}
	if r.Operator != "" {
		refused.Err = fmt.Errorf("%w; %s", refused.Err, r.Operator)
	}
	if r.Code == "" && r.Kind == fault.Provider && len(a.Reasons) > 0 {
		refused.Code = a.Reasons[0]
	}
	return refused
}

// Unanswered makes the error of a call without an answer (a timeout, a refused or closed
// connection), with the message of a failing server. The call may have taken effect. It drops
// the address, which can hold secrets, from errors of net/http.
func (t Table) Unanswered(call string, err error) *fault.Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return fault.Wrap(fault.Unavailable, fmt.Errorf("%s: %w", call, err), t.Row(Answer{Status: 500}).Message)
}
