package rules

// Story is what people have been told, or are to be told, of a poll. Comparing
// the two says what to announce, so that a change that was taken back before
// anybody heard of it is never announced.
type Story struct {
	Status Status
	// Generation is the finalisation it speaks of.
	Generation int64
	// At is the time of the winning slot; zero: none.
	At Fingerprint
	// Baseline is the time that the event was made for or that the creator
	// accepted; zero: none.
	Baseline Fingerprint
	// Rescheduled tells that the calendar moved it away from its baseline.
	Rescheduled bool
}

// Notice is what to tell people.
type Notice string

// The notices, as they stand in the documents of the web app.
const (
	NoticeNone        Notice = ""
	NoticeRescheduled Notice = "SESSION_RESCHEDULED"
	NoticeRestored    Notice = "SESSION_RESTORED"
	NoticeCancelled   Notice = "SESSION_CANCELLED"
	NoticeOnAgain     Notice = "SESSION_ON_AGAIN"
)

// Announce says what to tell people who were told one story, now that another
// is true. Finalising and reopening are told by the web app itself.
//
// Archiving and unarchiving are no news either: whoever keeps what was told
// leaves it as it is while a poll is archived, or an old change would be told
// again when it comes back.
func Announce(told, wanted Story) Notice {
	switch wanted.Status {
	case Cancelled:
		if told.Status == Cancelled {
			return NoticeNone
		}
		return NoticeCancelled
	case Finalized:
		return announceTime(told, wanted)
	default:
		return NoticeNone
	}
}

// announceTime is Announce for a poll that takes place.
func announceTime(told, wanted Story) Notice {
	sameFinalisation := told.Status == Finalized && told.Generation == wanted.Generation
	switch {
	case told.Status == Cancelled && told.Generation == wanted.Generation:
		// The cancellation was taken back. A new finalisation has another generation.
		return NoticeOnAgain
	case sameFinalisation && told.At == wanted.At:
		return NoticeNone
	case wanted.Rescheduled:
		return NoticeRescheduled
	case sameFinalisation && told.Rescheduled && (told.Baseline.IsZero() || wanted.Baseline == told.Baseline):
		return NoticeRestored
	case sameFinalisation && !told.At.IsZero() && !wanted.At.IsZero():
		// Moved, and the new time accepted, before anybody heard of the move.
		return NoticeRescheduled
	default:
		return NoticeNone
	}
}
