package queue

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"questscheduler/internal/fault"
)

// MaxName is the longest name of a task, in bytes.
const MaxName = 400

// kindForm is what all drivers can name a queue after: Cloud Tasks takes
// letters, digits and hyphens, River the same but for hyphens at either end.
var kindForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxKind is the longest kind, in bytes (River takes 64, Cloud Tasks 100 with
// a prefix).
const maxKind = 40

// CheckKinds tells whether a driver can be opened with these kinds: at least
// one, each once, of lower-case letters, digits and single hyphens, beginning
// with a letter, at most 40 bytes. The error is Invalid.
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

// Check tells whether a driver of these kinds may take the task. Every driver
// asks it first, so that what one refuses all refuse. The error is Invalid.
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

// CheckConfig tells whether a driver of these kinds can be started with the
// configuration: a handler for each kind and for no other, and no kind with
// fewer than one worker. The error is Invalid.
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

// DefaultWorkers is how many tasks of a kind run at the same time where
// Config.Workers does not name it.
const DefaultWorkers = 4

// WorkersFor is how many tasks of the kind run at the same time.
func (c Config) WorkersFor(kind string) int {
	if n := c.Workers[kind]; n > 0 {
		return n
	}
	return DefaultWorkers
}
