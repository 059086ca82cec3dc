package attendees

import (
	"fmt"

	"questscheduler/fault"
	"questscheduler/internal/attendee"
	"questscheduler/internal/mapping"
	"questscheduler/internal/store"
)

const (
	// maxChunks is the most documents of one version, and maxWritten of those written in one
	// transaction (store.MaxTransaction).
	maxChunks, maxWritten = 3, 5
)

// Marks stand for secondary addresses in the table of Followed, of primary addresses about
// which no version is carried out. No version has them, so each next one differs there.
const (
	unsettled = "(unsettled)" // a version was replaced while it was carried out
	leaving   = "(leaving)"   // no longer mapped; the account is still needed
)

// replace puts a loaded version in the place of the one in use. If that was not carried out
// wholly, what it changed is marked as unsettled. It returns the tables to be written.
func replace(before tables, state attendee.Mappings, read candidate) (attendee.Mappings, map[string][]byte, error) {
	encoded := map[string][]byte{state.Version: read.encoded}
	state.Chunks = chunksOf(state.Version, read.encoded)
	if state.Chunks > maxChunks {
		return state, nil, fault.Newf(fault.Invalid, "The mappings take more than %d KB; remove those that are not needed.",
			maxChunks*attendee.ChunkSize>>10)
	}
	if before.state.Followed == before.state.Version {
		return state, encoded, nil
	}
	if changed := mapping.Changed(before.from, before.to); len(changed) > 0 {
		table := marked(before.from, changed, unsettled)
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

// marked is a table in which some addresses have a mark.
func marked(table mapping.Table, primaries []string, mark string) mapping.Table {
	all := table.Mappings()
	for _, primary := range primaries {
		all = append(all, mapping.Mapping{Primary: primary, Secondaries: []string{mark}})
	}
	return mapping.New(all)
}

func isMarked(table mapping.Table, primary, mark string) bool {
	secondaries := table.Secondaries(primary)
	return len(secondaries) == 1 && secondaries[0] == mark
}

func chunksOf(version string, encoded []byte) int64 {
	if version == Empty {
		return 0
	}
	return int64(len(attendee.EncodeChunks(encoded)))
}

// write stores a state, adds the documents of the tables that only it names, and removes
// those that only the state before names.
func write(tx store.Tx, before, after attendee.Mappings, encoded map[string][]byte) error {
	had, has := documentsOf(before), documentsOf(after)
	for version, chunks := range had {
		if _, kept := has[version]; kept {
			continue
		}
		for n := range int(chunks) {
			if err := tx.Delete(attendee.ChunkPath(version, n)); err != nil {
				return err
			}
		}
	}
	for version := range has {
		if _, kept := had[version]; kept {
			continue
		}
		if encoded[version] == nil {
			return fmt.Errorf("write mappings %s: no table is given", version)
		}
		for n, fields := range attendee.EncodeChunks(encoded[version]) {
			if err := tx.Set(attendee.ChunkPath(version, n), fields); err != nil {
				return err
			}
		}
	}
	return tx.Set(attendee.StatePath(), attendee.EncodeMappings(after))
}

// documentsOf counts the documents of each version that a state names.
func documentsOf(state attendee.Mappings) map[string]int64 {
	documents := map[string]int64{state.Followed: state.FollowedChunks, state.Version: state.Chunks}
	delete(documents, "")
	delete(documents, Empty)
	return documents
}
