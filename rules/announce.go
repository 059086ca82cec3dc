package rules

import "time"

// AnnouncedState is the state of a poll that was announced or is pending. Comparing the
// two gives the announcement, so a change that was undone before its announcement is
// never announced.
type AnnouncedState struct {
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
	// CancelledAt is when it was cancelled; zero if it is not, or nothing but its status says so.
	CancelledAt time.Time
	// FinalizedAt is when people finalised it last; zero: never, or nothing says so.
	FinalizedAt time.Time
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

// Announce returns the announcement of a change from the announced state to the current
// one. The web app itself announces finalising and reopening. Archiving is not
// announced either: keep what was announced while a poll is archived, or an old change would
// be announced again afterwards.
func Announce(announced, current AnnouncedState) Notice {
	switch current.Status {
	case Cancelled:
		if announced.Status == Cancelled && !cancelledAgain(announced, current) {
			return NoticeNone
		}
		return NoticeCancelled
	case Finalized:
		return announceTime(announced, current)
	default:
		return NoticeNone
	}
}

// cancelledAgain reports whether people finalised or reopened a cancelled poll in between, and the
// web app announced that at once. What the calendar undid, and it or a person did again, nobody heard
// of: a person's cancellation is one generation more, and reopening one more before it.
func cancelledAgain(announced, current AnnouncedState) bool {
	decided := !current.FinalizedAt.Equal(announced.FinalizedAt) || current.Generation > announced.Generation+1
	return decided && current.CancelledAt.After(announced.CancelledAt)
}

func announceTime(announced, current AnnouncedState) Notice {
	sameFinalisation := announced.Status == Finalized && announced.Generation == current.Generation
	switch {
	case announced.Status == Cancelled && announced.Generation == current.Generation:
		// The cancellation was undone; a new finalisation has another generation.
		return NoticeOnAgain
	case sameFinalisation && announced.At == current.At:
		return NoticeNone
	case current.Rescheduled:
		return NoticeRescheduled
	case sameFinalisation && announced.Rescheduled && (announced.Baseline.IsZero() || current.Baseline == announced.Baseline):
		return NoticeRestored
	case sameFinalisation && !announced.At.IsZero() && !current.At.IsZero():
		// The new time was accepted before the move was announced.
		return NoticeRescheduled
	default:
		return NoticeNone
	}
}

// KnownTime returns the time that people know when current is announced; zero if they know
// none. It is that of the announced state, so a second move is compared with the first. The
// web app announces a finalisation itself: a poll that was moved since, before anything was
// announced here, is known by the time that it was finalised for.
func KnownTime(announced, current AnnouncedState) Fingerprint {
	switch {
	case announced.Generation == current.Generation && !announced.At.IsZero():
		return announced.At
	case current.At.IsZero():
		return Fingerprint{}
	default:
		return current.Baseline
	}
}
