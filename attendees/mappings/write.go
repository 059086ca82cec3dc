package mappings

import (
	"fmt"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

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

// write stores a state, adds the documents of the tables that only it names, and removes
// those that only the state before names.
func write(tx store.Tx, before, after Record, encoded map[string][]byte) error {
	had, has := documentsOf(before), documentsOf(after)
	for version, chunks := range had {
		if _, kept := has[version]; kept {
			continue
		}
		for n := range int(chunks) {
			if err := tx.Delete(ChunkPath(version, n)); err != nil {
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
		for n, fields := range EncodeChunks(encoded[version]) {
			if err := tx.Set(ChunkPath(version, n), fields); err != nil {
				return err
			}
		}
	}
	return tx.Set(RecordPath(), EncodeRecord(after))
}

// documentsOf counts the documents of each version that a state names.
func documentsOf(state Record) map[string]int64 {
	documents := map[string]int64{state.Followed: state.FollowedChunks, state.Version: state.Chunks}
	delete(documents, "")
	delete(documents, Empty)
	return documents
}
