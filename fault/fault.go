// Package fault gives errors a kind. Code that decides what to do next (retry, answer,
// defer) reads the kind and never a text.
//
// A kind says what the caller may do; the message is a sentence for a person
// and says what to do next; the wrapped error is for the log alone. HTTP
// statuses and envelopes are made from kinds at the edge (api, web-hooks) and
// nowhere else.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the class of an error. It says what the caller can do.
type Kind uint8

// The kinds. Internal is the zero value, so an error without a kind counts as
// unexpected.
const (
	// Internal: the error is unexpected; retrying may or may not help.
	Internal Kind = iota
	// Invalid: the input is wrong; the same input never succeeds.
	Invalid
	// Unauthenticated: the caller did not prove an identity.
	Unauthenticated
	// Forbidden: the caller is known, may see the thing, and may not do this.
	Forbidden
	// NotFound: it does not exist, or the caller may not know that it exists.
	NotFound
	// Conflict: the state does not allow it now, or it changed concurrently.
	Conflict
	// Revoked: a linked account's grant is dead or too small; only its owner
	// can repair that, by linking it again.
	Revoked
	// RateLimited: too much at once; RetryAfter says how long to wait.
	RateLimited
	// Provider: Google or Discord refused for good; retrying does not help.
	Provider
	// Unavailable: a dependency did not answer or asked to come back later.
	// The effect of a call may have taken place.
	Unavailable
	// TooLarge: the input is over a limit of size.
	TooLarge
	// Exhausted: a linked account's quota is used up for hours.
	Exhausted
)

var kindNames = [...]string{
	Internal: "internal", Invalid: "invalid", Unauthenticated: "unauthenticated",
	Forbidden: "forbidden", NotFound: "not found", Conflict: "conflict",
	Revoked: "revoked", RateLimited: "rate limited", Provider: "provider",
	Unavailable: "unavailable", TooLarge: "too large", Exhausted: "exhausted",
}

// Kinds lists every kind.
func Kinds() (kinds []Kind) {
	for kind := range kindNames {
		kinds = append(kinds, Kind(kind))
	}
	return kinds
}

// String returns the kind's name as used in logs and metrics.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "internal"
}

// Detail names one field of the input and the rule it breaks. It never holds
// the value that was given.
type Detail struct {
	Field string
	Rule  string
}

// Error is an error with a kind.
type Error struct {
	// Kind is what the caller can do about it.
	Kind Kind
	// Message is a sentence for a person: what is wrong and what to do next.
	// It holds no value of the input and no internals.
	Message string
	// Code, where set, is a stable machine-readable code that is finer than
	// the kind, such as "token_expired".
	Code string
	// Details name what is wrong in the input, for Invalid.
	Details []Detail
	// Own says of RateLimited that the bound is this program's, and not that of Google or Discord.
	Own bool
	// RetryAfter is how long to wait before trying again; zero: unknown.
	RetryAfter time.Duration
	// Err is the cause, for logs; nil where there is none.
	Err error
}

// Error joins message and cause.
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Message
	case e.Message == "":
		return e.Err.Error()
	default:
		return e.Message + ": " + e.Err.Error()
	}
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a kind with a sentence for a person.
func New(kind Kind, message string) *Error {
	return &Error{Kind: kind, Message: message}
}

// Newf is New with a format. The arguments must be safe to show to a person.
func Newf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap gives a cause a kind and a sentence. A nil cause gives an error too:
// call it only where something went wrong.
func Wrap(kind Kind, err error, message string) *Error {
	return &Error{Kind: kind, Message: message, Err: err}
}

// Field makes an Invalid error for one field of the input.
func Field(field, rule string) *Error {
	return &Error{
		Kind: Invalid, Message: field + " " + rule,
		Details: []Detail{{Field: field, Rule: rule}},
	}
}

// KindOf is the kind of the outermost *Error in the chain of err, or Internal
// where there is none. The kind of nil is Internal: ask only about errors.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err has the kind.
func Is(err error, kind Kind) bool {
	return err != nil && KindOf(err) == kind
}

// RetryAfter is how long the outermost *Error asks to wait, or zero.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// MessageOf is what the outermost *Error says to people, or otherwise where there is none or it
// says nothing.
func MessageOf(err error, otherwise string) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Message != "" {
		return e.Message
	}
	return otherwise
}

// CodeOf is the fine code of the outermost *Error that has one, or "".
func CodeOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Code != "" {
			return e.Code
		}
		err = e.Err
	}
	return ""
}
