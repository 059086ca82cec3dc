package calendars

import (
	"encoding/json"
	"strconv"

	"questscheduler/internal/queue"
)

// LookKind is the kind of the tasks that sync a calendar.
const LookKind = "look"

// Hint is the payload of such a task: the calendar, the run's generation and the trigger.
type Hint struct {
	Key   string `json:"key"`
	Gen   int64  `json:"gen"`
	Cause string `json:"cause"`
	Trace string `json:"trace,omitempty"`
}

// LookTask is the task of a calendar's next run, named by its generation: while the name
// is taken, a run that has not begun covers the trigger.
func LookTask(c Calendar, cause, trace string) queue.Task {
	payload, err := json.Marshal(Hint{Key: c.Key, Gen: c.LookGen, Cause: cause, Trace: trace})
	if err != nil {
		panic("calendars: marshal a task: " + err.Error()) // strings and integers always marshal
	}
	return queue.Task{Kind: LookKind, Name: c.Key + "/" + strconv.FormatInt(c.LookGen, 10), Payload: payload}
}
