package calendars

import (
	"encoding/json"
	"strconv"

	"questscheduler/internal/queue"
)

// SyncKind is the kind of the tasks that sync a calendar.
const SyncKind = "look"

// SyncRequest is the payload of such a task: the calendar, the run's generation and the trigger.
type SyncRequest struct {
	Key   string `json:"key"`
	Gen   int64  `json:"gen"`
	Cause string `json:"cause"`
	Trace string `json:"trace,omitempty"`
}

// SyncTask is the task of a calendar's next run, named by its generation: while the name
// is taken, a run that has not begun covers the trigger.
func SyncTask(c Calendar, cause, trace string) queue.Task {
	payload, err := json.Marshal(SyncRequest{Key: c.Key, Gen: c.SyncGen, Cause: cause, Trace: trace})
	if err != nil {
		panic("calendars: marshal a task: " + err.Error()) // strings and integers always marshal
	}
	return queue.Task{Kind: SyncKind, Name: c.Key + "/" + strconv.FormatInt(c.SyncGen, 10), Payload: payload}
}
