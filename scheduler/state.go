package scheduler

import (
	"context"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// state is all that a command reads of a poll before it writes, since a
// transaction's reads come first.
type state struct {
	poll    poll.Poll
	group   *poll.Group
	winning *poll.Slot
	// entry is the index entry of the linked event, nil where it has none;
	// calendar is the calendar it stands in.
	entry     *poll.IndexEntry
	entryPath store.Path
	calendar  calendars.Calendar
	// intents are those of the poll that are not done.
	intents []poll.Intent
	// original is the slot from before a reschedule, nil where it is gone; read
	// only where something depends on it (loadSlots).
	original *poll.Slot
	// revival links the poll to its awaited event again; nil where it does not. It
	// is written, and announced, with whatever else the observation does.
	revival *revival
	// left tells of a poll that is gone that something of it is not.
	left bool
	// latest is the newest entry of its journal; of a pristine poll alone, whose id
	// was another one's then.
	latest *poll.Entry
}

// load reads the state of a poll for a command of a person who must be its
// creator. The command is to be given by afterEdits.
func load(ctx context.Context, tx store.Tx, person Person, pollID string) (state, error) {
	p, group, err := readable(ctx, tx, person, pollID)
	if err != nil {
		return state{}, err
	}
	if err := checkCreator(person, p); err != nil {
		return state{}, err
	}
	if err := checkEdits(p); err != nil {
		return state{}, err
	}
	st, err := complete(ctx, tx, p)
	st.group = group
	return st, err
}

// complete reads what belongs to a poll. An editedError says that its id was
// another poll's, of which something is left.
func complete(ctx context.Context, tx store.Tx, p poll.Poll) (st state, err error) {
	st.poll = p
	if err := st.loadSlots(ctx, tx); err != nil {
		return state{}, err
	}
	if st.entry, st.entryPath, err = poll.IndexOf(ctx, tx, p); err != nil {
		return state{}, err
	}
	if st.entry != nil {
		if st.calendar, _, err = calendars.Load(ctx, tx, st.entry.AccountID, st.entry.CalendarID); err != nil {
			return state{}, err
		}
	}
	if st.intents, err = poll.IntentsOf(ctx, tx, p.ID); err != nil || !p.Pristine() {
		return st, err
	}
	if st.latest, err = poll.Latest(ctx, tx, p.ID); err == nil && st.recreated() {
		err = &editedError{p.ID}
	}
	st.countOn()
	return st, err
}

// loadSlots reads the slots of the poll that decisions depend on: the winning
// one, and the original one where the poll names no event any more, or where the
// calendar's time ends nothing (rules.Poll.AppliedLate).
func (st *state) loadSlots(ctx context.Context, reader store.Reader) (err error) {
	p := st.poll
	if st.winning, err = poll.LoadSlot(ctx, reader, p.ID, p.WinningSlotID); err != nil {
		return err
	}
	moved := p.Sync.Rescheduled
	if moved == nil || p.GoogleEventID != "" && !p.Rules("", nil, nil).AppliedLate() {
		return nil
	}
	st.original, err = poll.LoadSlot(ctx, reader, p.ID, moved.FromSlotID)
	return err
}

// rules is what the decisions need of the state.
func (st state) rules() rules.Poll {
	account := ""
	if st.entry != nil {
		account = st.entry.AccountID
	}
	return st.poll.Rules(account, st.winning, st.original)
}

// pendingInsert is the insert under way for the poll's generation, if any.
func (st state) pendingInsert() *poll.Intent {
	for i := range st.intents {
		if st.intents[i].Kind == poll.IntentInsert && st.intents[i].Generation == st.poll.Sync.Generation {
			return &st.intents[i]
		}
	}
	return nil
}

// supersede turns every insert under way into a deletion that is due at once:
// its event may have been made already, or be made yet by a request at work.
func (st state) supersede(tx store.Tx, now time.Time) error {
	for _, intent := range st.intents {
		if intent.Kind != poll.IntentInsert {
			continue
		}
		if err := tx.Set(intent.Path(), poll.EncodeIntent(asDelete(intent, now))); err != nil {
			return err
		}
	}
	return nil
}

// asDelete is the intent that deletes what another would insert. Whoever is at
// work on the insert took it up for insertGrace, and may make the event until
// then, by a clock that is not the one of now, nor that of whoever deletes.
func asDelete(intent poll.Intent, now time.Time) poll.Intent {
	if intent.Kind == poll.IntentInsert && now.Before(intent.Due.Add(clockSkew)) {
		intent.Until = now.Add(insertGrace + clockSkew)
	}
	intent.Kind, intent.Due, intent.Attempts = poll.IntentDelete, now, 0
	intent.Session = poll.Session{}
	return intent
}

// unlink takes the index entry of the linked or awaited event away, and writes the
// intent to delete the event where it is to go; else the event is released. One
// that is awaited was deleted already: should it be back by now, it is its owner's.
// account is for an event that was linked before us and has no entry.
func (st state) unlink(tx store.Tx, deleteEvent bool, account string, now time.Time, trace string) (*poll.Intent, error) {
	if st.entry != nil {
		account = st.entry.AccountID
		deleteEvent = deleteEvent && !st.entry.Awaited
		if err := tx.Delete(st.entryPath); err != nil {
			return nil, err
		}
		if err := tx.Merge(calendars.Path(st.calendar.Key), st.calendar.Unlink(st.entry.EventID)...); err != nil {
			return nil, err
		}
	}
	if !deleteEvent || st.poll.GoogleEventID == "" || account == "" {
		return nil, nil
	}
	intent := poll.Intent{
		Kind: poll.IntentDelete, PollID: st.poll.ID, Generation: st.poll.Sync.Generation,
		AccountID: account, CalendarID: st.poll.GoogleCalendarID, EventID: st.poll.GoogleEventID,
		Due: now, CreatedAt: now, Trace: trace,
	}
	return &intent, tx.Set(intent.Path(), poll.EncodeIntent(intent))
}
