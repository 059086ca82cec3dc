package mappings

import (
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
)

// candidate is a loaded version.
type candidate struct {
	version  string
	table    Table
	encoded  []byte
	skipped  []Skipped
	lost, of int
	// added counts the pairs that it adds, growing the primary addresses that have them.
	added, growing int
}

// fewAdded is how many primary addresses may get second ones at once, however few are mapped.
const fewAdded = 5

// needsConfirmation reports whether a version differs from the one in use so much that it is
// probably a mistake: it lacks more than half of the pairs, of two at least, or adds more than
// half as many to more than fewAdded primary addresses. The first load of all adds every one.
func (c candidate) needsConfirmation(inUse string) bool {
	return c.lost*2 > c.of && c.of >= 2 || inUse != "" && c.added*2 > c.of && c.growing > fewAdded
}

// judgeLoad decides what a loaded version means for the state.
func judgeLoad(state Record, read candidate, confirm string, now time.Time) (Record, Outcome) {
	state.TriedAt, state.Failures, state.Error = now, 0, ""
	state.Skipped, state.SkippedCount = read.skipped[:min(len(read.skipped), SkippedKept)], int64(len(read.skipped))
	switch {
	case read.version == state.Version:
		state.LoadedAt, state.Held = now, Held{}
		return state, LoadUnchanged
	case read.needsConfirmation(state.Version) && confirm != read.version:
		since := now
		if state.Held.Version == read.version {
			since = state.Held.At
		}
		state.Held = Held{Version: read.version, Lost: int64(read.lost), Added: int64(read.added), Of: int64(read.of), At: since}
		return state, LoadHeld
	default:
		state.Version, state.Count = read.version, int64(read.table.Len())
		state.LoadedAt, state.Held = now, Held{}
		return state, LoadChanged
	}
}

const (
	// maxChunks is the most documents of one version, and maxWritten of those written in one
	// transaction (store.MaxTransaction).
	maxChunks, maxWritten = 3, 5
)

// replace puts a loaded version in the place of the one in use. If that was not carried out
// wholly, what it changed is Unsettled. It returns the tables to be written.
func replace(before tables, state Record, read candidate) (Record, map[string][]byte, error) {
	encoded := map[string][]byte{state.Version: read.encoded}
	state.Chunks = chunksOf(state.Version, read.encoded)
	if state.Chunks > maxChunks {
		return state, nil, fault.Newf(fault.Invalid, "The mappings take more than %d KB; remove those that are not needed.",
			maxChunks*ChunkSize>>10)
	}
	if before.state.Followed == before.state.Version {
		return state, encoded, nil
	}
	if changed := Changed(before.from, before.to); len(changed) > 0 {
		table := inState(before.from, changed, Unsettled)
		bytes, err := table.Encode()
		if err != nil {
			return state, nil, err
		}
		state.Followed, state.FollowedChunks = table.Version(), chunksOf(table.Version(), bytes)
		encoded[table.Version()] = bytes
	}
	if state.Chunks+state.FollowedChunks > maxWritten {
		return state, nil, fault.New(
			fault.Unavailable, "The last change of the mappings is still being carried out; they are loaded again after that.",
		)
	}
	return state, encoded, nil
}

// inState is a table in which some addresses have a state in place of second addresses.
func inState(table Table, primaries []string, state State) Table {
	all := table.Mappings()
	for _, primary := range primaries {
		all = append(all, Mapping{Primary: primary, State: state})
	}
	return NewTable(all)
}

func chunksOf(version string, encoded []byte) int64 {
	if version == Empty {
		return 0
	}
	return int64(len(EncodeChunks(encoded)))
}

// interest is what a calendar's document says from now on about who follows it, counted in did;
// nil if that stays. follow is the account that is to follow its primary calendar and no other.
func interest(
	calendar calendars.Calendar, follow accounts.Account, relist bool, request calendars.Request, did *Refreshed,
) []store.Update {
	is, wants := calendar.Interests[Consumer] > 0, follow.ID != "" && at(follow.ID, follow.Primary())(calendar)
	switch {
	case wants && !is:
		did.Followed++
		return calendar.Want(Consumer, 1, request, follow.OwnerID)
	case wants && relist:
		did.Relisted++
		return calendar.RequestRelist(Consumer, request)
	case is && !wants:
		did.Released++
		return calendar.Want(Consumer, 0, request, calendar.OwnerID)
	}
	return nil
}
