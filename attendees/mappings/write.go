package mappings

import (
	"fmt"

	"questscheduler/internal/store"
)

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
