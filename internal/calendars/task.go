package calendars

import (
	"encoding/json"
	"strconv"

	"questscheduler/internal/queue"
)

// LookKind is the kind of the tasks that look at a calendar.
const LookKind = "look"

// Hint is the payload of a look's task: which calendar, which look, and why.
type Hint struct {
	Key   string `json:"key"`
	Gen   int64  `json:"gen"`
	Cause string `json:"cause"`
	Trace string `json:"trace,omitempty"`
}

// LookTask is the task of the calendar's next look. It is named by the look's
// generation: while the name is taken, a look that has not begun covers every
// hint that asks for it.
func LookTask(c Calendar, cause, trace string) queue.Task {
	payload, err := json.Marshal(Hint{Key: c.Key, Gen: c.LookGen, Cause: cause, Trace: trace})
	if err != nil {
		panic("cursor: three texts do not marshal: " + err.Error())
	}
	return queue.Task{Kind: LookKind, Name: c.Key + "/" + strconv.FormatInt(c.LookGen, 10), Payload: payload}
}
