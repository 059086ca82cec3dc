package queue

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"time"

	"questscheduler/internal/fault"
)

// MaxName is the longest name of a task, in bytes.
const MaxName = 400

// kindForm is what both Cloud Tasks and River allow as a queue's name.
var kindForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxKind is the longest kind, in bytes (River takes 64, Cloud Tasks 100 with
// a prefix).
const maxKind = 40

// CheckKinds is Invalid where a driver cannot be opened with these kinds: at least one,
// each once, of lower-case letters, digits and single hyphens, beginning with a letter,
// at most 40 bytes.
func CheckKinds(kinds []string) error {
	if len(kinds) == 0 {
		return fault.Field("kinds", "must name at least one kind")
	}
	for i, kind := range kinds {
		if len(kind) > maxKind || !kindForm.MatchString(kind) {
			return fault.Field("kinds", "must be lower-case words joined by hyphens, at most 40 bytes each")
		}
		if slices.Contains(kinds[:i], kind) {
			return fault.Field("kinds", "must name each kind once")
		}
	}
	return nil
}

// Check is Invalid where a driver of these kinds must refuse the task. Every Enqueue
// calls it first.
func Check(task Task, kinds []string, now time.Time) error {
	switch {
	case !slices.Contains(kinds, task.Kind):
		return fault.Field("kind", "must be one of the kinds that the queue was opened with")
	case len(task.Name) > MaxName:
		return fault.Field("name", "must be at most "+strconv.Itoa(MaxName)+" bytes long")
	case len(task.Payload) > MaxPayload:
		return fault.Field("payload", "must be at most "+strconv.Itoa(MaxPayload)+" bytes long")
	case task.NotBefore.After(now.Add(MaxAhead)):
		return fault.Field("not_before", "must lie at most 30 days ahead")
	}
	return nil
}

// CheckConfig is Invalid unless there is a handler for each of these kinds and for no
// other, and no kind has fewer than one worker.
func CheckConfig(config Config, kinds []string) error {
	for _, kind := range kinds {
		if config.Handlers[kind] == nil {
			return fault.Field("handlers", "must have one for the kind "+kind)
		}
	}
	if len(config.Handlers) != len(kinds) {
		return fault.Field("handlers", "must have none for a kind that the queue was not opened with")
	}
	for kind, workers := range config.Workers {
		if !slices.Contains(kinds, kind) {
			return fault.Field("workers", "must name no kind that the queue was not opened with")
		}
		if workers < 1 {
			return fault.Field("workers", "must be at least 1")
		}
	}
	return nil
}

// DefaultWorkers is the number of workers of a kind that Config.Workers does not name.
const DefaultWorkers = 4

// WorkersFor is how many tasks of the kind run at the same time.
func (c Config) WorkersFor(kind string) int { return cmp.Or(c.Workers[kind], DefaultWorkers) }
