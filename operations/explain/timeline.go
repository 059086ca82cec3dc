package explain

import (
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Step is one decision about a poll. Fingerprints are as in the journal.
type Step struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Who commanded it; "" for the calendar.
	Trigger string `json:"hint"`
	Trace   string `json:"trace,omitempty"`
	Who     string `json:"who,omitempty"`
	// Said is the calendar's answer; nil where it was not asked.
	Said *Said `json:"said,omitempty"`
	// Decision is the command or the action, Why the journal's reason, Row the rule in words.
	Decision string `json:"decision"`
	Why      string `json:"why"`
	Row      string `json:"row,omitempty"`
	// Before and After are the poll's states; Before is zero for the first step.
	Before StepState `json:"before"`
	After  StepState `json:"after"`
	// Observed reports whether the decision was only recorded and not carried out.
	Observed bool `json:"observed,omitempty"`
	// Announced is nil where nothing was to be announced.
	Announced *Announced `json:"announced,omitempty"`
}

// Said is the calendar's answer about the event.
type Said struct {
	EventState  string     `json:"seen"`
	Fingerprint string     `json:"fingerprint,omitempty"`
	Updated     *time.Time `json:"updated,omitempty"`
	EventID     string     `json:"event_id,omitempty"`
	CalendarID  string     `json:"calendar_id,omitempty"`
	AccountID   string     `json:"account_id,omitempty"`
	// MovedTo is the calendar in which the event was found that is gone from its own.
	MovedTo string `json:"moved_to,omitempty"`
	at      rules.Fingerprint
}

// StepState is a poll's state in a timeline.
type StepState struct {
	Status        string `json:"status,omitempty"`
	State         string `json:"state,omitempty"`
	Error         string `json:"error,omitempty"`
	WinningSlotID string `json:"winning_slot_id,omitempty"`
	Baseline      string `json:"baseline,omitempty"`
	Rescheduled   bool   `json:"rescheduled"`
	Generation    int64  `json:"generation"`
}

// The states of an announcement.
const (
	// AnnouncementDue: it rests until Due.
	AnnouncementDue = "due"
	// AnnouncementUnderWay: it is being delivered.
	AnnouncementUnderWay = "under way"
	// AnnouncementSent: it was delivered.
	AnnouncementSent = "told"
	// AnnouncementNoNews: when it was due, people knew it already.
	AnnouncementNoNews = "no news"
	// AnnouncementOvertaken: a later one took its place in the store, which keeps the newest
	// alone.
	AnnouncementOvertaken = "overtaken"
)

// Announced is the outcome of a step's announcement.
type Announced struct {
	State    string     `json:"state"`
	Due      *time.Time `json:"due,omitempty"`
	Attempts int64      `json:"attempts,omitempty"`
	// Channels are those it was delivered to, or that refused, by name.
	Channels []Channel `json:"channels,omitempty"`
}

// Channel is the outcome of one channel.
type Channel struct {
	Name      string    `json:"name"`
	At        time.Time `json:"at"`
	MessageID string    `json:"message_id,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// Timeline gives the steps of a history, oldest first.
func Timeline(h History) []Step {
	steps := make([]Step, len(h.Entries))
	var before StepState
	for i, entry := range h.Entries {
		steps[i] = Step{
			ID: entry.ID, At: entry.At, Trigger: entry.Trigger, Trace: entry.Trace, Who: entry.Who,
			Said: saidOf(entry), Decision: decisionOf(entry), Why: entry.Reason, Row: rowOf(entry),
			Before: before, After: standOf(entry), Announced: announcedOf(h.Announcement, entry), Observed: entry.Observed,
		}
		before = steps[i].After
	}
	return steps
}

func saidOf(entry poll.Entry) *Said {
	if entry.EventState == "" {
		return nil
	}
	movedTo := ""
	if entry.Inputs != nil {
		movedTo = entry.Inputs.MovedTo.CalendarID
	}
	return &Said{
		MovedTo: movedTo, EventState: entry.EventState, Fingerprint: entry.Fingerprint.String(), Updated: instant(entry.Updated),
		EventID: entry.EventID, CalendarID: entry.CalendarID, AccountID: entry.AccountID, at: entry.Fingerprint,
	}
}

func decisionOf(entry poll.Entry) string {
	if entry.Command != "" {
		return string(entry.Command)
	}
	return string(entry.Decision)
}

func standOf(entry poll.Entry) StepState {
	return StepState{
		Status: string(entry.Status), State: string(entry.State), Error: string(entry.Error),
		WinningSlotID: entry.WinningSlotID, Baseline: entry.Baseline.String(), Rescheduled: entry.Rescheduled,
		Generation: entry.Generation,
	}
}

// announcedOf is the outcome of an entry's announcement.
func announcedOf(a poll.Announcement, entry poll.Entry) *Announced {
	ref := entry.Announcement
	if ref == "" {
		return nil
	}
	out := &Announced{Channels: channelsOf(a, ref)}
	switch {
	case a.Delivering.Ref == ref:
		out.State, out.Attempts = AnnouncementUnderWay, a.Attempts
	case a.Wanted.Ref == ref && !a.Due.IsZero():
		out.State, out.Due = AnnouncementDue, instant(a.Due)
	case len(out.Channels) > 0:
		out.State = AnnouncementSent
	case a.Announced.Ref == ref || a.Wanted.Ref == ref:
		out.State = AnnouncementNoNews
	default:
		out.State = AnnouncementOvertaken
	}
	return out
}

// instant is a time, or nil where there is none.
func instant(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
