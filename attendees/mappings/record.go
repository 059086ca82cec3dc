package mappings

import (
	"time"
)

// Record is the document attendeeMappings/state: which mappings are in use, and how
// loading them went.
type Record struct {
	// Version is that of the mappings in use; their bytes are in as many documents as Chunks.
	Version string
	Chunks  int64
	// Followed is the version whose calendars are followed and whose changes were carried
	// out; if it differs from Version, that is still pending.
	Followed       string
	FollowedChunks int64
	// PendingSince is since when a version in use is not carried out; zero: it is. An account
	// that is kept a while for what it has to take back does not count.
	PendingSince time.Time
	// Delegated reports that they are followed by accounts of the service account.
	Delegated bool
	// Released reports that following them was ended since they were switched off: the next
	// carrying out follows all of them again.
	Released bool
	// LoadedAt is when they were last loaded, TriedAt when loading was last tried; Failures
	// counts failed tries in a row, and Error is the last one's sentence.
	LoadedAt, TriedAt time.Time
	Failures          int64
	Error             string
	// Count is the number of mappings, WithoutAccess of those whose calendar cannot be
	// followed, since no account reaches it.
	Count, WithoutAccess int64
	// Skipped are the first rows that were not taken, of SkippedCount.
	Skipped      []Skipped
	SkippedCount int64
	// Held is a version that awaits a person's confirmation; its Version is "" if none does.
	Held Held
}

// Held is a version of the mappings that lacks more than half of the pairs in use, or adds more
// than half as many: it lacks Lost of the Of pairs in use, and has Added more.
type Held struct {
	Version         string
	Lost, Added, Of int64
	At              time.Time
}

// SkippedKept is how many skipped rows are kept.
const SkippedKept = 100
