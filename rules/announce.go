package rules

// Story is the state of a poll that people were told, or are to be told. Comparing the
// two gives the announcement, so a change that was undone before anybody heard of it is
// never announced.
type Story struct {
	Status Status
	// Generation is that of the finalisation.
	Generation int64
	// At is the winning slot's time; zero if there is none.
	At Fingerprint
	// Baseline is the time that the event was created for or that the creator accepted;
	// zero if none.
	Baseline Fingerprint
	// Rescheduled reports that the calendar moved it away from its baseline.
	Rescheduled bool
}

// Notice is an announcement.
type Notice string

// The notices, as stored in the web app's documents.
const (
	NoticeNone        Notice = ""
	NoticeRescheduled Notice = "SESSION_RESCHEDULED"
	NoticeRestored    Notice = "SESSION_RESTORED"
	NoticeCancelled   Notice = "SESSION_CANCELLED"
	NoticeOnAgain     Notice = "SESSION_ON_AGAIN"
)

// Announce returns the announcement for people who were told one state, now that another
// holds. The web app itself announces finalising and reopening. Archiving is not
// announced either: keep what was told while a poll is archived, or an old change would
// be announced again afterwards.
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

func announceTime(told, wanted Story) Notice {
	sameFinalisation := told.Status == Finalized && told.Generation == wanted.Generation
	switch {
	case told.Status == Cancelled && told.Generation == wanted.Generation:
		// The cancellation was undone; a new finalisation has another generation.
		return NoticeOnAgain
	case sameFinalisation && told.At == wanted.At:
		return NoticeNone
	case wanted.Rescheduled:
		return NoticeRescheduled
	case sameFinalisation && told.Rescheduled && (told.Baseline.IsZero() || wanted.Baseline == told.Baseline):
		return NoticeRestored
	case sameFinalisation && !told.At.IsZero() && !wanted.At.IsZero():
		// The new time was accepted before the move was announced.
		return NoticeRescheduled
	default:
		return NoticeNone
	}
}
