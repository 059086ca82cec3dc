package poll

import (
	"context"
	"iter"
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// JournalEntry is a document of schedulers/{id}/journal: one decision about a poll, and why. It is
// written in the transaction that applies the decision, and never changed. The entries replay
// the poll.
type JournalEntry struct {
	ID string // jrn_ and a ULID, so ids sort by time
	// PollID is the poll's, by where the entry stands. CreatorID is who made the poll; "" in
	// old entries.
	PollID    string
	CreatorID string
	At        time.Time
	// Trace correlates all effects of one trigger, from push to announcement.
	Trace string
	// Trigger is such as push, timer, person.
	Trigger string
	// Who is the person who commanded; "" for the calendar.
	Who string
	// Command is the person's command; "" for an observation.
	Command rules.Command
	// EventState, Fingerprint and Updated are what the calendar said; a command's Fingerprint
	// is the time that it set.
	EventState  string
	Fingerprint rules.Fingerprint
	Updated     time.Time
	EventID     string
	CalendarID  string
	AccountID   string
	// Before is the fingerprint applied before; After the one applied now.
	Before, After rules.Fingerprint
	Baseline      rules.Fingerprint // after the decision
	Decision      rules.Action      // what was done, for observations
	Reason        string            // the row of the table, or a sentence
	Fence         int64             // of the sync run; 0 for commands
	// Observed marks a decision that was not carried out (QS_SYNC=observe). Its id is made of
	// what it says.
	Observed bool
	// Inputs are those of a decision about an observation; nil for a command, and in old
	// entries.
	Inputs *Inputs
	// Status, State and the rest are the poll after the decision.
	Status        rules.Status
	State         rules.State
	Error         rules.ErrorCode
	Generation    int64
	WinningSlotID string
	Rescheduled   bool
	Cancelled     bool // whether a mark of a cancellation is in the poll
	// Announcement is the reference of what was made due; "" where nothing was.
	Announcement string
	// Made is when the document was made (store.Document.Made); no field holds it.
	Made int64
}

// Inputs are what the rules need to decide again, beside the observation and the entries
// before.
type Inputs struct {
	// Now is when it was decided, by that process's clock; At may be later (see Recorded).
	Now time.Time
	// Winning, Original, Timely, MovedAt and FinalizedAt are the poll's (rules.Poll).
	Winning, Original    rules.Fingerprint
	Timely               rules.Fingerprint
	MovedAt, FinalizedAt time.Time
	// WatchLive and Confirmed are the observation's.
	WatchLive, Confirmed bool
	// MovedTo is where a missing event was found; the zero place: nowhere.
	MovedTo Place
}

// EntryPath is where a journal entry is.
func EntryPath(pollID, id string) store.Path { return Path(pollID).Doc("journal", id) }

// EncodeEntry gives the fields of a journal entry.
func EncodeEntry(e JournalEntry) map[string]any {
	fields := map[string]any{
		"at": e.At, "creatorId": store.NullIfEmpty(e.CreatorID), "trace": e.Trace, "hint": e.Trigger, "who": store.NullIfEmpty(e.Who),
		"command": string(e.Command),
		"observation": map[string]any{
			"seen": e.EventState, "fingerprint": e.Fingerprint.String(), "updated": store.NullIfZero(e.Updated),
			"eventId": store.NullIfEmpty(e.EventID), "calendarId": store.NullIfEmpty(e.CalendarID),
			"accountId": store.NullIfEmpty(e.AccountID),
		},
		"before": e.Before.String(), "after": e.After.String(), "baseline": e.Baseline.String(),
		"decision": string(e.Decision), "reason": e.Reason, "fence": e.Fence,
		"result": map[string]any{
			"status": string(e.Status), "state": string(e.State), "error": string(e.Error),
			"generation": e.Generation, "winningSlotId": store.NullIfEmpty(e.WinningSlotID), "rescheduled": e.Rescheduled,
			"cancelled": e.Cancelled,
		},
		"announcement": store.NullIfEmpty(e.Announcement),
	}
	if e.Observed {
		fields["observed"] = true
	}
	if in := e.Inputs; in != nil {
		inputs := map[string]any{
			"now": in.Now, "winning": in.Winning.String(), "original": in.Original.String(),
			"movedAt": store.NullIfZero(in.MovedAt), "finalizedAt": store.NullIfZero(in.FinalizedAt),
			"watchLive": in.WatchLive, "confirmed": in.Confirmed,
		}
		if !in.Timely.IsZero() {
			inputs["timely"] = in.Timely.String()
		}
		if in.MovedTo != (Place{}) {
			inputs["movedTo"] = map[string]any{"accountId": in.MovedTo.AccountID, "calendarId": in.MovedTo.CalendarID}
		}
		fields["inputs"] = inputs
	}
	return fields
}

// DecodeEntry reads a journal entry.
func DecodeEntry(doc store.Document) JournalEntry {
	f := store.Fields(doc.Data)
	observation, result := f.Map("observation"), f.Map("result")
	var inputs *Inputs
	if in := f.Map("inputs"); len(in) > 0 {
		inputs = &Inputs{
			Now: in.Time("now"), Winning: readFingerprint(in.String("winning")), Original: readFingerprint(in.String("original")),
			Timely: readFingerprint(in.String("timely")), MovedAt: in.Time("movedAt"), FinalizedAt: in.Time("finalizedAt"),
			WatchLive: in.Bool("watchLive"), Confirmed: in.Bool("confirmed"),
			MovedTo: Place{AccountID: in.Map("movedTo").String("accountId"), CalendarID: in.Map("movedTo").String("calendarId")},
		}
	}
	state := rules.State(result.String("state"))
	return JournalEntry{
		ID: doc.Path.ID(), PollID: doc.Path.Parent().ID(), CreatorID: f.String("creatorId"), At: f.Time("at"),
		Trace: f.String("trace"), Trigger: f.String("hint"), Who: f.String("who"),
		Command:    rules.Command(f.String("command")),
		EventState: observation.String("seen"), Fingerprint: readFingerprint(observation.String("fingerprint")),
		Updated: observation.Time("updated"),
		EventID: observation.String("eventId"), CalendarID: observation.String("calendarId"), AccountID: observation.String("accountId"),
		Before: readFingerprint(f.String("before")), After: readFingerprint(f.String("after")),
		Baseline: readFingerprint(f.String("baseline")),
		Decision: rules.Action(f.String("decision")), Reason: f.String("reason"), Fence: f.Int("fence"),
		Status: rules.Status(result.String("status")), State: state,
		Error: rules.ErrorCode(result.String("error")), Generation: result.Int("generation"),
		WinningSlotID: result.String("winningSlotId"), Rescheduled: result.Bool("rescheduled"),
		// The state says it too in entries from before the mark was kept.
		Cancelled: result.Bool("cancelled") || state == rules.StateCancelled, Inputs: inputs,
		Announcement: f.String("announcement"), Observed: f.Bool("observed"), Made: doc.Made,
	}
}

var journalByTime = newestFirst("at", store.Select("journal of a poll, newest first", "journal", ""))

var journalsOfCreator = newestFirst("at",
	everywhere(store.Select("journals of a creator's polls, newest first", "journal", "", store.Where("creatorId", store.Equal))))

// Journals is the query for the journals of all polls that a person made, as one, newest
// first. Old entries without a creator are left out.
func Journals(creatorID string) store.Bound { return journalsOfCreator.With(creatorID) }

// WalkJournal gives a poll's journal to take in the same way.
func WalkJournal(
	ctx context.Context, reader store.Reader, pollID string, part store.Paging,
	take func(JournalEntry) (taken bool, err error),
) (next *store.Cursor, err error) {
	return store.Walk(ctx, reader, journalByTime.With().Below(Path(pollID)).Paged(part), DecodeEntry, take)
}

// Journal yields a poll's journal, newest first.
func Journal(ctx context.Context, reader store.Reader, pollID string) iter.Seq2[JournalEntry, error] {
	return store.All(ctx, reader, journalByTime.With().Below(Path(pollID)), DecodeEntry)
}

var allJournals = newestFirst("at", everywhere(store.Select("journals of all polls, newest first", "journal", "")))

// LatestEntries reads the newest entries of everybody's journals, at most limit.
func LatestEntries(ctx context.Context, reader store.Reader, limit int) ([]JournalEntry, error) {
	entries, _, err := store.Page(ctx, reader, allJournals.With().First(limit), DecodeEntry)
	return entries, err
}

// LoadJournal reads a poll's journal, newest first, at most limit entries behind after (nil:
// from the newest). next is where to go on; nil at the end.
func LoadJournal(
	ctx context.Context, reader store.Reader, pollID string, part store.Paging,
) (entries []JournalEntry, next *store.Cursor, err error) {
	return store.Page(ctx, reader, journalByTime.With().Below(Path(pollID)).Paged(part), DecodeEntry)
}
