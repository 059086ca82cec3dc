package control

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Rule is one fault to come, in the shape of POST /_sim/faults.
type Rule struct {
	// Match names the calls it strikes: a method such as "events.list" or
	// "push", several joined by "|", each with "*" for any text ("events.*",
	// "*").
	Match string `json:"match"`
	// Calendar, Event and Token, where set, limit it further: to calls and
	// pushes of one calendar, by its id; to calls that name one event in their
	// path, which a listing does not; to calls with a sync token, or without.
	Calendar string `json:"calendar,omitempty"`
	Event    string `json:"event,omitempty"`
	Token    *bool  `json:"token,omitempty"`
	// Status, where set (400 to 599), is answered in place of the call, which
	// then has no effect. For "push" it is what the receiver is taken to have
	// answered.
	Status int `json:"status,omitempty"`
	// Reason is the machine-readable reason that goes with Status; empty: the
	// usual one of that status.
	Reason string `json:"reason,omitempty"`
	// Body, where set, is answered as it is in place of the call, which then
	// has no effect, with Status or 200. It means nothing to pushes.
	Body json.RawMessage `json:"body,omitempty"`
	// Times is how many calls it strikes; 0: every one until the rules are
	// cleared.
	Times int `json:"times,omitempty"`
	// DelayMS holds the call up by so many milliseconds first.
	DelayMS int `json:"delay_ms,omitempty"`
	// Drop: a push or an interaction is never sent. It means nothing to other calls.
	Drop bool `json:"drop,omitempty"`
	// Duplicate: a push or an interaction is sent that many times more.
	Duplicate int `json:"duplicate,omitempty"`
	// LostAnswer: the effect takes place, then the connection closes without
	// an answer. It wins over Status and Body.
	LostAnswer bool `json:"lost_answer,omitempty"`
	// BadSignature: an interaction is sent with a signature that does not verify.
	// It means nothing to other calls.
	BadSignature bool `json:"bad_signature,omitempty"`
}

// maxDelay keeps a mistyped delay from hanging a test for hours.
const maxDelay = 10 * time.Minute

// onlyDelays tells the rules that add up from the one that strikes.
func (r Rule) onlyDelays() bool {
	return r.Status == 0 && len(r.Body) == 0 && !r.Drop && r.Duplicate == 0 && !r.LostAnswer && !r.BadSignature
}

// Call is one call, as far as rules ask for it.
type Call struct {
	Method string
	// Calendar and Event are what the call names, "" where it names none.
	Calendar, Event string
	// Token: it carries a sync token.
	Token bool
}

// strikes says whether the rule is for a call.
func (r Rule) strikes(call Call) bool {
	return (r.Calendar == "" || r.Calendar == call.Calendar) &&
		(r.Event == "" || r.Event == call.Event) &&
		(r.Token == nil || *r.Token == call.Token) && r.matches(call.Method)
}

// limited says whether it is for some calls of a method alone.
func (r Rule) limited() bool { return r.Calendar != "" || r.Event != "" || r.Token != nil }

// matches says whether the rule strikes a method. The patterns were checked
// when the rule was added, so path.Match has no error to report here.
func (r Rule) matches(method string) bool {
	for pattern := range strings.SplitSeq(r.Match, "|") {
		if ok, err := path.Match(pattern, method); err == nil && ok {
			return true
		}
	}
	return false
}

// validate names the first field that is wrong. known, where not empty, are
// the methods that exist: a pattern that matches none of them is a slip.
func (r Rule) validate(known []string) error {
	if r.Match == "" {
		return fmt.Errorf("match: name a method such as %q", "events.list")
	}
	for pattern := range strings.SplitSeq(r.Match, "|") {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("match: write a method's name, with * for any text")
		}
		alone := Rule{Match: pattern}
		if len(known) > 0 && !slices.ContainsFunc(known, alone.matches) {
			return fmt.Errorf("match: no such method; there are %s", strings.Join(known, ", "))
		}
	}
	switch {
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("status: must be 400 to 599, or left out")
	case len(r.Body) > 0 && !json.Valid(r.Body):
		return fmt.Errorf("body: must be JSON")
	case r.Times < 0:
		return fmt.Errorf("times: must not be negative")
	case r.DelayMS < 0 || time.Duration(r.DelayMS) > maxDelay/time.Millisecond:
		return fmt.Errorf("delay_ms: must be 0 to %d", maxDelay/time.Millisecond)
	case r.Duplicate < 0 || r.Duplicate > 100:
		return fmt.Errorf("duplicate: must be 0 to 100")
	}
	return nil
}

// Fault is what one call suffers. The zero Fault is none.
type Fault struct {
	Status     int
	Reason     string
	Body       string // JSON
	Delay      time.Duration
	Drop       bool
	Duplicate  int
	LostAnswer bool

	// BadSignature: an interaction's signature does not verify.
	BadSignature bool
}

// take finds what a call suffers and uses up the rules that made it:
// of the rules that do something the oldest, and every rule that only delays.
func take(rules []Rule, call Call) (left []Rule, f Fault) {
	struck := false
	left = rules[:0]
	for _, r := range rules {
		if !r.strikes(call) || (struck && !r.onlyDelays()) {
			left = append(left, r)
			continue
		}
		f.Delay += time.Duration(r.DelayMS) * time.Millisecond
		if !r.onlyDelays() {
			struck = true
			f.Status, f.Reason, f.Body = r.Status, r.Reason, string(r.Body)
			f.Drop, f.Duplicate, f.LostAnswer = r.Drop, r.Duplicate, r.LostAnswer
			f.BadSignature = r.BadSignature
		}
		if r.Times == 1 {
			continue
		}
		if r.Times > 1 {
			r.Times--
		}
		left = append(left, r)
	}
	return left, f
}
