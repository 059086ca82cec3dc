package poll

import (
	"context"
	"iter"
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// AnnounceKind is the kind of the outbox that announces and draws cards; its ids are polls'.
const AnnounceKind = "announce"

// Announcement is the document announcements/{pollId}: what to announce of a poll, and what
// was announced. The two are compared when Due has come, so a change that was taken back
// before is never announced. Closed to clients.
type Announcement struct {
	PollID string
	// Wanted is the poll's present state; Ref names the transition that made it so.
	Wanted Message
	// Due is when to compare; the zero time: nothing is pending.
	Due time.Time
	// Announced was announced last, and Before is the state that people knew until then. Their
	// difference is the notice that a resend sends.
	Announced, Before Message
	// Delivering is being delivered: it is written before the first delivery and removed after
	// the last, and a newer state waits for it. Ref is "" if no delivery is under way.
	Delivering Message
	// Resent reports whether Delivering was announced before and is sent once more.
	Resent bool
	// Channels hold the outcome of each channel by its name.
	Channels map[string]Delivery
	// Attempts counts the runs that began or continued Delivering.
	Attempts int64
	// AgainAt is when a run may begin at the earliest: one is delivering until then, or the
	// last one failed. Zero: at once.
	AgainAt time.Time
	// Failures counts the runs that failed since the last that did not.
	Failures int64
	// CardDue is when to compare the poll's card with the poll; the zero time: it is not pending.
	// CardRef names the latest change that asks for it: a run that took an earlier one up leaves it
	// pending. CardTrace correlates the two.
	CardDue            time.Time
	CardRef, CardTrace string
	// CardBegun says that a run may have edited the card without recording what it shows.
	CardBegun bool
	// Named are the participants whom somebody else put into the poll, and who neither joined
	// nor voted, as far as that is known. They get no announcements for being named.
	Named []string
	// Entered are those who voted from the group's channel, and those whom an edit removed: a press
	// there brings none of them back. At MostEntered it brings nobody.
	Entered []string
	// Pressed are those who take part by a press in the group's channel alone, and whom nobody named
	// or invited. Who does not take part any more may be among them.
	Pressed []string
	// NextNotice is when the next notice would be due at an even pace (rules.Pace); zero: none
	// came yet.
	NextNotice time.Time
	// Made is when the document was made (store.Document.Made); no field holds it.
	Made int64
}

// Message is a state to announce, with the transition it comes from.
type Message struct {
	// Ref is the id of the transition's journal entry, from which ids of notices and messages
	// derive.
	Ref   string
	State rules.AnnouncedState
	// Actor is the person who caused it and needs no notice.
	Actor string
	// Trace correlates it with the trigger that caused it.
	Trace string
	// At is when the transition was applied.
	At time.Time
	// Updated is the event's own `updated`, for a change of the calendar.
	Updated time.Time
}

// Delivery is the outcome of the delivery to one channel.
type Delivery struct {
	// Ref is the transition announced there last.
	Ref string
	// MessageID is the message there, where the channel has such.
	MessageID string
	// Error says why the delivery failed; "" where it did not.
	Error string
	At    time.Time
}

// CardPending reports whether the poll's card has to be compared with the poll.
func (a Announcement) CardPending() bool { return !a.CardDue.IsZero() }

// MessageAt is when a message may be taken up; zero: at once, or there is none. One that is being
// delivered, or that failed, waits until AgainAt. A card that failed holds up no message.
func (a Announcement) MessageAt() time.Time {
	begun := a.Delivering.Ref != ""
	if begun || !a.Due.IsZero() && !a.CardPending() && a.AgainAt.After(a.Due) {
		return a.AgainAt
	}
	return a.Due
}

// CardAt is when a pending card may be taken up; zero: none is pending.
func (a Announcement) CardAt() time.Time {
	if a.CardPending() && a.AgainAt.After(a.CardDue) {
		return a.AgainAt
	}
	return a.CardDue
}

// AnnouncementPath is where a poll's announcement is.
func AnnouncementPath(pollID string) store.Path { return store.Doc("announcements", pollID) }

// PendingUpdates gives the fields that a transition writes: what to announce, and when. They are
// merged.
func PendingUpdates(pollID string, wanted Message, due time.Time) []store.Update {
	return []store.Update{
		Set("pollId", pollID), Set("wanted", encodeState(wanted)), Set("due", due), Set("pending", true),
	}
}

// CardPendingUpdates gives the fields, to be merged, that have the poll's card updated without an
// announcement, from a time on. ref is new for each change.
func CardPendingUpdates(pollID, ref, trace string, due time.Time) []store.Update {
	return []store.Update{Set("pollId", pollID), Set("cardDue", due), Set("cardRef", ref), Set("cardTrace", store.NullIfEmpty(trace))}
}

// CardBegunUpdates gives the fields that a run writes before it edits the card, which is pending
// from now on. ref names what the run is for, unless another change asked for the card already.
func (a Announcement) CardBegunUpdates(ref string, now time.Time) []store.Update {
	if a.CardPending() {
		return []store.Update{Set("cardBegun", true)}
	}
	return []store.Update{Set("cardDue", now), Set("cardRef", ref), Set("cardBegun", true)}
}

// CardDoneUpdates gives the fields that record that the card shows the poll.
func CardDoneUpdates() []store.Update {
	return []store.Update{
		Set("cardDue", store.Delete), Set("cardRef", store.Delete), Set("cardTrace", store.Delete),
		Set("cardBegun", store.Delete),
	}
}

// NamedUpdates gives the fields, to be merged, that record who was named.
func NamedUpdates(pollID string, people []string) []store.Update {
	return []store.Update{Set("pollId", pollID), Set("named", listOf(people))}
}

// MostEntered is how many people Announcement.Entered holds.
const MostEntered = 1000

// EnteredUpdates gives the fields, to be merged, that record who entered.
func EnteredUpdates(pollID string, people []string) []store.Update {
	return []store.Update{Set("pollId", pollID), Set("entered", listOf(people))}
}

// PressedUpdates gives the fields, to be merged, that record who takes part by a press alone.
func PressedUpdates(pollID string, people []string) []store.Update {
	return []store.Update{Set("pollId", pollID), Set("pressed", listOf(people))}
}

// DeferUpdate defers an announcement, but not the card. The next transition's is deferred
// again.
func DeferUpdate(due time.Time) store.Update { return Set("due", due) }

// NextNoticeUpdate records that a notice was begun (Announcement.NextNotice).
func NextNoticeUpdate(next time.Time) store.Update { return Set("nextNotice", next) }

// KnownUpdates gives the fields that record a state as announced, for polls that people know
// already.
func KnownUpdates(pollID string, state Message) []store.Update {
	return []store.Update{
		Set("pollId", pollID), Set("wanted", encodeState(state)), Set("announced", encodeState(state)), Set("pending", false),
	}
}

// DeliveryUpdates gives the fields that a run writes before it delivers, which keep others away
// until a time; attempt counts from 1.
func DeliveryUpdates(state Message, attempt int64, until time.Time) []store.Update {
	return []store.Update{Set("delivering", encodeState(state)), Set("attempts", attempt), Set("againAt", until)}
}

// BeforeUpdate records the state that people know before a delivery, beside DeliveryUpdates.
func BeforeUpdate(known Message) store.Update { return Set("before", encodeState(known)) }

// ResendUpdates gives the fields that have the last announcement delivered again, at once, in
// every channel and to everybody whom it did not reach.
func ResendUpdates(a Announcement, now time.Time) []store.Update {
	return []store.Update{
		Set("delivering", encodeState(a.Announced)), Set("announced", encodeState(a.Before)), Set("attempts", 0),
		Set("channels", map[string]any{}), Set("due", now), Set("pending", true), Set("resent", true),
		Set("againAt", store.Delete), Set("failures", store.Delete),
	}
}

// AnnouncedUpdates gives the fields that end a delivery. settled says that nothing newer is
// wanted.
func AnnouncedUpdates(state Message, settled bool) []store.Update {
	return []store.Update{
		Set("announced", encodeState(state)), Set("pending", !settled), Set("attempts", 0), Set("delivering", store.Delete),
		Set("resent", store.Delete), Set("againAt", store.Delete), Set("failures", store.Delete),
	}
}

// FailedUpdates records that another run failed, and when to begin the next. What waits for that is
// due then, so that no drain reads it in between, however much waits in an outage.
func (a Announcement) FailedUpdates(again time.Time) []store.Update {
	updates := []store.Update{Set("againAt", again), Set("failures", a.Failures+1)}
	if a.CardPending() {
		updates = append(updates, Set("cardDue", again))
	}
	waits := a.Delivering.Ref != "" || !a.CardPending() // else the card failed, which holds up no message
	if waits && !a.Due.IsZero() && a.Due.Before(again) {
		updates = append(updates, Set("due", again))
	}
	return updates
}

// RecoveredUpdates record that a run did not fail.
func RecoveredUpdates() []store.Update {
	return []store.Update{Set("againAt", store.Delete), Set("failures", store.Delete)}
}

// ReleaseUpdate has the next run begin at once.
func ReleaseUpdate() store.Update { return Set("againAt", store.Delete) }

// RenumberUpdates gives the fields that let all that was wanted and announced of one
// generation stand for another; nil where nothing was.
func RenumberUpdates(a Announcement, from, to int64) []store.Update {
	var updates []store.Update
	for _, side := range []struct {
		name  string
		state Message
	}{{"wanted", a.Wanted}, {"announced", a.Announced}, {"before", a.Before}, {"delivering", a.Delivering}} {
		if side.state.Ref != "" && side.state.State.Generation == from {
			updates = append(updates, store.Update{Path: store.Field(side.name, "generation"), Value: to})
		}
	}
	return updates
}

// DeliveryUpdate records the outcome of one channel.
func DeliveryUpdate(channel string, d Delivery) store.Update {
	return store.Update{Path: store.Field("channels", channel), Value: map[string]any{
		"ref": d.Ref, "messageId": store.NullIfEmpty(d.MessageID), "error": store.NullIfEmpty(d.Error), "at": d.At,
	}}
}

func encodeState(t Message) map[string]any {
	return map[string]any{
		"ref": t.Ref, "actor": store.NullIfEmpty(t.Actor), "trace": store.NullIfEmpty(t.Trace),
		"at": store.NullIfZero(t.At), "updated": store.NullIfZero(t.Updated),
		"status": string(t.State.Status), "generation": t.State.Generation,
		"time": t.State.At.String(), "baseline": t.State.Baseline.String(), "rescheduled": t.State.Rescheduled,
		"cancelledAt": store.NullIfZero(t.State.CancelledAt), "finalizedAt": store.NullIfZero(t.State.FinalizedAt),
	}
}

func decodeState(f store.Fields) Message {
	cancelledAt := f.Time("cancelledAt")
	if _, known := f["cancelledAt"]; !known { // an earlier program wrote it
		cancelledAt = f.Time("at")
	}
	return Message{
		Ref: f.String("ref"), Actor: f.String("actor"), Trace: f.String("trace"),
		At: f.Time("at"), Updated: f.Time("updated"),
		State: rules.AnnouncedState{
			Status: rules.Status(f.String("status")), Generation: f.Int("generation"),
			At: readFingerprint(f.String("time")), Baseline: readFingerprint(f.String("baseline")),
			Rescheduled: f.Bool("rescheduled"), CancelledAt: cancelledAt, FinalizedAt: f.Time("finalizedAt"),
		},
	}
}

// DecodeAnnouncement reads a poll's announcement.
func DecodeAnnouncement(doc store.Document) Announcement {
	f := store.Fields(doc.Data)
	a := Announcement{
		PollID: doc.Path.ID(), Wanted: decodeState(f.Map("wanted")), Announced: decodeState(f.Map("announced")),
		Before: decodeState(f.Map("before")), Delivering: decodeState(f.Map("delivering")),
		Resent: f.Bool("resent"), Channels: map[string]Delivery{}, Attempts: f.Int("attempts"), AgainAt: f.Time("againAt"),
		Failures: f.Int("failures"),
		CardDue:  f.Time("cardDue"), CardRef: f.String("cardRef"), CardTrace: f.String("cardTrace"), CardBegun: f.Bool("cardBegun"),
		Named: f.Strings("named"), Entered: f.Strings("entered"), Pressed: f.Strings("pressed"), NextNotice: f.Time("nextNotice"), Made: doc.Made,
	}
	if f.Bool("pending") {
		a.Due = f.Time("due")
	}
	channels := f.Map("channels")
	for name := range channels {
		d := channels.Map(name)
		a.Channels[name] = Delivery{Ref: d.String("ref"), MessageID: d.String("messageId"), Error: d.String("error"), At: d.Time("at")}
	}
	return a
}

// LoadAnnouncement reads a poll's announcement; the zero one where there is none.
func LoadAnnouncement(ctx context.Context, reader store.Reader, pollID string) (Announcement, error) {
	doc, err := reader.Get(ctx, AnnouncementPath(pollID))
	if err != nil {
		return Announcement{}, err
	}
	return DecodeAnnouncement(doc), nil
}

var announcementsDue = store.Select("pending announcements, by due", "announcements", "due",
	store.Where("pending", store.Equal), store.Where("due", store.LessOrEqual))

var cardsDue = store.Select("pending cards, by due", "announcements", "cardDue", store.Where("cardDue", store.LessOrEqual))

// DueAnnouncements yields the documents whose announcement is due at now, longest first, and then
// the others whose card is. Those that a run has, and may not be taken up yet (MessageAt, CardAt),
// are left out.
func DueAnnouncements(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error] {
	return func(yield func(store.Document, error) bool) {
		for _, asked := range []store.Bound{announcementsDue.With(true, now), cardsDue.With(now)} {
			for doc, err := range store.All(ctx, reader, asked, func(doc store.Document) store.Document { return doc }) {
				a := DecodeAnnouncement(doc)
				isDue := !a.Due.IsZero() && !a.Due.After(now)
				skip := a.MessageAt().After(now)
				if asked.Query == cardsDue {
					skip = isDue || a.CardAt().After(now)
				}
				if err == nil && skip {
					continue
				}
				if !yield(doc, err) || err != nil {
					return
				}
			}
		}
	}
}

// Delivering yields the polls of which a delivery is under way at now, or was when its process
// died.
func Delivering(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		// A newer state may be due later than what is delivered.
		for a, err := range store.All(ctx, reader, announcementsDue.With(true, now.Add(time.Hour)), DecodeAnnouncement) {
			if (err != nil || a.Delivering.Ref != "" && a.AgainAt.After(now)) && (!yield(a.PollID, err) || err != nil) {
				return
			}
		}
	}
}
