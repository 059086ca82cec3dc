package mappings_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/store"
)

// people is how many mapped people a large sheet has: three second addresses of each fill three
// documents, and four are more than fit.
const people = 9_000

// large gives the sheet people with as many second addresses each, that no compression makes short.
func (s *sheet) large(secondaries int) {
	s.rows = nil
	for i := range people {
		row := []string{fmt.Sprintf("p%04d@north.example", i), "", ""}
		var addresses []string
		for n := range secondaries {
			addresses = append(addresses, fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(n)}))[:60]+"@south.example")
		}
		row[1] = strings.Join(addresses, ", ")
		s.rows = append(s.rows, row)
	}
}

// inUse stores what the sheet says as the version in use, of which everything is carried out, or
// nothing.
func (w *mappingWorld) inUse(carriedOut bool) {
	w.Helper()
	table, _, err := mappings.Parse(w.sheet.rows, []string{"north.example"}, mappings.Table{})
	must(w.T, err)
	encoded, err := table.Encode()
	must(w.T, err)
	chunks := mappings.EncodeChunks(encoded)
	state := mappings.Record{
		Version: table.Version(), Chunks: int64(len(chunks)), Count: people, LoadedAt: w.now, TriedAt: w.now,
		Delegated: true, PendingSince: w.now,
	}
	if carriedOut {
		state.Followed, state.FollowedChunks, state.PendingSince = state.Version, state.Chunks, time.Time{}
	}
	must(w.T, w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		for n, fields := range chunks {
			if err := tx.Set(mappings.ChunkPath(table.Version(), n), fields); err != nil {
				return err
			}
		}
		return tx.Set(mappings.RecordPath(), mappings.EncodeRecord(state))
	}))
}

// A sheet that grew too large is a failed load: what is in use is carried out, however long that
// lasts, and people see why the sheet does not count.
func TestRefresh_OfASheetThatIsTooLarge_CarriesOutWhatIsInUse(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.large(3)
	w.inUse(false)
	before := w.state().Version
	w.sheet.large(4)
	var did mappings.Refreshed
	at := ""
	for range 2 {
		step, next, err := w.mappings.Refresh(w.ctx, mapped, at, false)
		must(t, err)
		did.Failed, did.Followed, at = did.Failed+step.Failed, did.Followed+step.Followed, next
	}
	equal(t, "failed loads and calendars followed", []int{did.Failed, did.Followed}, []int{1, 40})
	state := w.state()
	equal(t, "in use", state.Version, before)
	equal(t, "failures", state.Failures, 1)
	equal(t, "error", state.Error, "The mappings take more than 1152 KB; remove those that are not needed.")
	equal(t, "loads", w.loads, []mappings.Outcome{mappings.LoadFailed})
	_, err := w.mappings.Reload(w.ctx, mapped, "")
	equal(t, "by hand", mappings.Sentence(err), "The mappings were not loaded, and stay as they were. "+state.Error)
}

// Three large versions do not fit in one transaction: the next one waits until the one in use is
// carried out, which is then done.
func TestRefresh_WhileALargeChangeIsCarriedOut_EndsItAndLoadsTheNext(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.large(3)
	w.inUse(true)
	change := func(row int) {
		w.sheet.large(3)
		w.sheet.rows[row][1] = "other@south.example"
	}
	change(1)
	w.mappings.Accounts = noAccounts{}
	if _, err := w.tryRefresh(w.mappings); err == nil {
		t.Fatal("it was carried out")
	}
	w.restart(true)
	half := w.state()
	equal(t, "documents", []int64{half.Chunks, half.FollowedChunks}, []int64{3, 3})

	change(2)
	equal(t, "failed", w.refresh().Failed, 1)
	state := w.state()
	equal(t, "in use", state.Version, half.Version)
	equal(t, "carried out", state.Followed, half.Version)
	equal(t, "error", state.Error, "The last change of the mappings is still being carried out; they are loaded again after that.")

	equal(t, "failed after that", w.refresh().Failed, 0)
	state = w.state()
	equal(t, "the next one is in use", state.Version != half.Version && state.Followed == state.Version, true)
	equal(t, "error after that", state.Error, "")
}

// A version that awaits confirmation takes no place yet, however large. Confirmed, it does not fit.
func TestReload_ConfirmingASheetThatIsTooLarge_IsAFailedLoad(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.large(3)
	w.inUse(true)
	before := w.state()
	w.sheet.large(5)
	loaded, err := w.mappings.Reload(w.ctx, mapped, "")
	must(t, err)
	equal(t, "failures while it is held", loaded.Failures, 0)
	equal(t, "documents in use", w.state().Chunks, before.Chunks)
	_, err = w.mappings.Reload(w.ctx, mapped, loaded.Held.Version)
	equal(t, "confirmed", fault.KindOf(err), fault.Conflict)
	state := w.state()
	equal(t, "failures", state.Failures, 1)
	equal(t, "in use", []any{state.Version, state.Chunks}, []any{before.Version, before.Chunks})
}

// refusing is a store that refuses some transactions, and then none.
type refusing struct {
	store.Store
	times int
}

func (r *refusing) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	r.times--
	if r.times >= 0 {
		return fault.New(fault.Unavailable, "The store does not answer.")
	}
	return r.Store.Run(ctx, fn)
}

// The sheet was read well: it is no failed load that the store refused what it says.
func TestRefresh_ThatTheStoreRefuses_IsNoFailedLoad(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana")
	w.mappings.Store = &refusing{w.counter, 1}
	_, err := w.tryRefresh(w.mappings)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("the store refused it: %v", err)
	}
	equal(t, "loads", len(w.loads), 0)
	equal(t, "failures", w.state().Failures, 0)
	w.refresh()
	w.settled("ana")
}
