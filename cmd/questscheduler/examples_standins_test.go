package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// exampleServer stands in for the address of the test's server.
const exampleServer = "https://questscheduler.example"

// standIns replace what differs from run to run. An id has the same stand-in wherever it
// appears, made from the operation that first showed it: a new example changes no other.
type standIns struct {
	server string // the address that exampleServer stands in for
	known  map[string]string
	at     time.Time // the minute of the request, for ids that hold their time
	seed   string    // the operation
	made   map[string]int
}

// replaced is a kind of value that has stand-ins; the last group of its pattern is the
// value.
type replaced struct {
	kind    string
	pattern *regexp.Regexp
	standIn func(s *standIns, seed [32]byte) string
}

// replacedKinds are in order: what an earlier pattern found is not searched again.
var replacedKinds = []replaced{
	{"ticket", regexp.MustCompile(`ticket=([\w.%-]{40,})`), opaque},
	{"secret", regexp.MustCompile(`/feeds/([\w-]{20,})`), opaque},
	{"cursor", regexp.MustCompile(`"next_cursor": "([^"]+)"`), opaque},
	{"code", regexp.MustCompile(`"code": "([0-9A-F]{8})"`), func(_ *standIns, seed [32]byte) string {
		return strings.ToUpper(hex.EncodeToString(seed[:4]))
	}},
	{
		"resource", regexp.MustCompile(`"resource_id": "([^"]+)"`),
		func(_ *standIns, seed [32]byte) string { return base64.RawURLEncoding.EncodeToString(seed[:9]) },
	},
	{
		"etag", regexp.MustCompile(`etag[\\":]+([\w-]{20})\.`),
		func(_ *standIns, seed [32]byte) string { return base64.RawURLEncoding.EncodeToString(seed[:15]) },
	},
	{"uuid", regexp.MustCompile(`\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b`),
		func(_ *standIns, seed [32]byte) string {
			digits := hex.EncodeToString(seed[:])
			return fmt.Sprintf("%s-%s-4%s-a%s-%s", digits[:8], digits[8:12], digits[12:15], digits[15:18], digits[18:30])
		}},
	{"ulid", regexp.MustCompile(`(?:\b|_)([0-7][0-9A-HJKMNP-TV-Z]{25})\b`), func(s *standIns, seed [32]byte) string {
		return ulid.MustNew(ulid.Timestamp(s.at), bytes.NewReader(seed[:])).String()
	}},
	{"event", regexp.MustCompile(`\b(questsched[0-9a-v]{20,})\b`), func(_ *standIns, seed [32]byte) string {
		return "questsched" + base32Text(nil, seed)
	}},
	{"mirror", regexp.MustCompile(`\bmir_([0-9a-v]{26})\b`), base32Text},
	{"reference", regexp.MustCompile(`\bEVT-([0-9A-HJKMNP-TV-Z]{8})\b`), func(s *standIns, _ [32]byte) string {
		return ulid.MustNew(ulid.Timestamp(s.at), bytes.NewReader(make([]byte, 10))).String()[:8]
	}},
	{"message", regexp.MustCompile(`"message_id": "(\d{17,20})"`), func(_ *standIns, seed [32]byte) string {
		return fmt.Sprintf("14%017d", binary.BigEndian.Uint64(seed[:])%1e17)
	}},
	{"calendar", regexp.MustCompile(`\bc_([0-9a-v]{26})@`), base32Text},
	{"task", regexp.MustCompile(`(?:/admin/tasks/|"id": ")(\d+)["/]`), func(*standIns, [32]byte) string { return "41" }},
	{"hash", regexp.MustCompile(`\b([0-9a-f]{32,64})\b`), func(_ *standIns, seed [32]byte) string { return hex.EncodeToString(seed[:16]) }},
}

func opaque(_ *standIns, seed [32]byte) string { return base64.RawURLEncoding.EncodeToString(seed[:]) }

func base32Text(_ *standIns, seed [32]byte) string {
	return strings.ToLower(base32.HexEncoding.EncodeToString(seed[:20]))[:26]
}

// in replaces everything in the text of an example.
func (s *standIns) in(operation, text string, at time.Time) string {
	s.seed, s.at, s.made = operation, at, map[string]int{}
	text = strings.ReplaceAll(text, s.server, exampleServer)
	if operation == "event-journal" || operation == "sync-journal" {
		text = replaceGroup(stepTrace.pattern, text, func(value string) string { return s.of(stepTrace, operation+" "+value) })
	}
	for _, kind := range replacedKinds {
		text = replaceGroup(kind.pattern, text, func(value string) string { return s.of(kind, value) })
	}
	text = clockTime.ReplaceAllStringFunc(text, toMinute)
	text = syncFence.ReplaceAllString(text, `"fence": 1`)
	return keyedByID.ReplaceAllStringFunc(text, sortLines)
}

// stepTrace is what a step of an event's mirrors followed. Whether the run for the request took
// it, or that for the push that the request causes, depends on their timing, so it is no trace
// that an earlier example has.
var stepTrace = replaced{"trace", regexp.MustCompile(`"trace": "req_([0-7][0-9A-HJKMNP-TV-Z]{25})"`),
	func(s *standIns, seed [32]byte) string {
		return ulid.MustNew(ulid.Timestamp(s.at), bytes.NewReader(seed[:])).String()
	}}

// syncFence counts the sync runs of a calendar. Whether a push joins a run or starts one
// of its own depends on its timing.
var syncFence = regexp.MustCompile(`"fence": [1-9]\d*`)

// keyedByID are the lines of an object with texts under ids, which the server sorts by the
// ids that have been replaced.
var keyedByID = regexp.MustCompile(`(?m)(?:^ *"[0-9a-f-]{36}": "[^"]*",?\n)+`)

func sortLines(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, ",")
	}
	slices.Sort(lines)
	return strings.Join(lines, ",\n") + "\n"
}

// of is the stand-in for one value.
func (s *standIns) of(kind replaced, value string) string {
	if standIn, ok := s.known[value]; ok {
		return standIn
	}
	s.made[kind.kind]++
	standIn := kind.standIn(s, sha256.Sum256(fmt.Appendf(nil, "%s %s %d", s.seed, kind.kind, s.made[kind.kind])))
	// What is its own stand-in already is found again by a later pattern.
	s.known[value], s.known[standIn] = standIn, standIn
	return standIn
}

// replaceGroup replaces the group of each match.
func replaceGroup(pattern *regexp.Regexp, text string, replacement func(string) string) string {
	var out strings.Builder
	end := 0
	for _, match := range pattern.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[end:match[2]])
		out.WriteString(replacement(text[match[2]:match[3]]))
		end = match[3]
	}
	return out.String() + text[end:]
}

// clockTime is a time that may have been read from a clock.
var clockTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)

// toMinute cuts a time to its minute, which the test sets. Times that were given are on a
// minute already.
func toMinute(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Equal(at.Truncate(time.Minute)) {
		return text
	}
	return at.Truncate(time.Minute).Format(time.RFC3339)
}
