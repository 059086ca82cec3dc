package discord

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"questscheduler/demo/sim/control"
)

// defaultRetryAfter is what a planted 429 asks for without a reason.
const defaultRetryAfter = 500 * time.Millisecond

// refuse answers a call of a method with a planted fault.
//
// The reason of a 429 is made of words: "global" for the limit on all calls, a
// number for the seconds to wait ("global 2.5"). Any other reason is one of
// Discord's error codes ("50013"), or the message to give. Without one it is
// what Discord would most likely say with that status.
func (s *Server) refuse(method string) func(http.ResponseWriter, *http.Request, control.Fault) {
	return func(w http.ResponseWriter, _ *http.Request, f control.Fault) {
		s.log.Debug("discord simulator: planted fault", "call", method, "status", f.Status, "reason", f.Reason)
		if f.Status == http.StatusTooManyRequests {
			wait, global := rateLimitReason(f.Reason)
			now := s.clock.Now()
			if global {
				writeProblem(w, globallyTooMany(w.Header(), wait))
				return
			}
			bucketHeaders(w.Header(), method, s.limits.limit, 0, now.Add(wait), wait)
			writeProblem(w, tooMany(w.Header(), wait, false))
			return
		}
		writeProblem(w, planted(method, f))
	}
}

func rateLimitReason(reason string) (wait time.Duration, global bool) {
	wait = defaultRetryAfter
	for word := range strings.FieldsSeq(reason) {
		if word == "global" {
			global = true
		}
		if seconds, err := strconv.ParseFloat(word, 64); err == nil && seconds >= 0 {
			wait = time.Duration(seconds * float64(time.Second))
		}
	}
	return wait, global
}

// planted is the refusal of a fault other than 429. The fault's status replaces the
// one that the code usually has.
func planted(method string, f control.Fault) *problem {
	p := usual(method, f.Status)
	if code, err := strconv.Atoi(f.Reason); err == nil {
		p = &problem{Message: f.Reason, Code: code}
		if _, known := codes[code]; known {
			p = coded(code)
		}
	} else if f.Reason != "" {
		p.Message = f.Reason
	}
	p.status = f.Status
	return p
}

// usual is Discord's most likely problem for a status.
func usual(method string, status int) *problem {
	switch status {
	case http.StatusBadRequest:
		return coded(codeInvalidForm)
	case http.StatusForbidden:
		return coded(codeMissingAccess)
	case http.StatusNotFound:
		switch method {
		case "messages.get", "messages.edit", "messages.delete":
			return coded(codeUnknownMessage)
		case "messages.create", "messages.list", "channels.get":
			return coded(codeUnknownChannel)
		case "webhooks.edit", "webhooks.create":
			return coded(codeUnknownWebhook)
		case "commands.delete":
			return coded(codeUnknownCommand)
		case "guilds.get":
			return coded(codeUnknownGuild)
		}
	}
	return bare(status)
}
