package firestore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
)

// byTitle is a query of books.
var byTitle = &store.Query{
	Name: "books by title", Collection: "books", Filters: []store.Filter{{Path: store.Field("title"), Op: store.Equal}},
}

// count is a transaction that reads a document and writes it, and counts how
// often it runs.
func count(ran *int) func(context.Context, store.Tx) error {
	return func(ctx context.Context, tx store.Tx) error {
		*ran++
		if _, err := tx.Get(ctx, "books/one"); err != nil {
			return err
		}
		return tx.Merge("books/one", store.Update{Path: store.Field("n"), Value: *ran})
	}
}

func TestRun_Overtaken_RerunsUntilItCommits(t *testing.T) {
	t.Parallel()
	const often = 8 // more than the five attempts of Google's own client
	server := (&scripted{}).fail("commit", often, codes.Aborted, "too much contention")
	s := server.start(t, firestore.Options{})
	ran := 0
	if err := s.Run(t.Context(), count(&ran)); err != nil || ran != often+1 {
		t.Fatalf("%d attempts ended with %v", ran, err)
	}
	for i, read := range server.reads {
		before := read.GetNewTransaction().GetReadWrite().GetRetryTransaction()
		if i == 0 && before != nil || i > 0 && string(before) != string(server.commits[i-1].GetTransaction()) {
			t.Errorf("attempt %d comes in the place of transaction %v", i, before)
		}
	}
}

func TestRun_OvertakenTooLong_IsUnavailable(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T) (context.Context, firestore.Options){
		"than patience lasts": func(t *testing.T) (context.Context, firestore.Options) {
			return t.Context(), firestore.Options{Patience: brief}
		},
		"than the caller waits": func(t *testing.T) (context.Context, firestore.Options) {
			ctx, cancel := context.WithTimeout(t.Context(), brief)
			t.Cleanup(cancel)
			return ctx, firestore.Options{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := (&scripted{}).fail("commit", 10000, codes.Aborted, "too much contention")
			ctx, options := begin(t)
			ran := 0
			err := server.start(t, options).Run(ctx, count(&ran))
			if !fault.Is(err, fault.Unavailable) || errors.Is(err, store.ErrUnanswered) || ran < 2 {
				t.Fatalf("%d attempts ended with %v", ran, err)
			}
		})
	}
}

// Another comes to what an overtaken transaction has claimed, and has read before:
// it ends that attempt, gives its locks back, and begins again behind the other.
func TestRun_FirstAttemptMeetsClaim_RestartsAfterIt(t *testing.T) {
	t.Parallel()
	for name, reach := range map[string]func(ctx context.Context, tx store.Tx) error{
		"by a document": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Get(ctx, "books/one")
			return err
		},
		"by a query": func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Query(ctx, byTitle.With("any"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := (&scripted{}).fail("commit", 1, codes.Aborted, "too much contention")
			s := server.start(t, firestore.Options{Queries: []*store.Query{byTitle}})
			var order []string
			met, ended := make(chan error), make(chan error)
			other := func() {
				ran := 0
				ended <- s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
					if _, err := tx.Get(ctx, "shelves/one"); err != nil {
						return err
					}
					err := reach(ctx, tx)
					ran++
					if ran == 1 {
						met <- err
						return err
					}
					order = append(order, "the other")
					return tx.Set("books/two", nil)
				})
			}
			ran := 0
			err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
				if _, err := tx.Get(ctx, "books/one"); err != nil {
					return err
				}
				ran++
				if ran == 2 {
					go other()
					if err := <-met; !fault.Is(err, fault.Unavailable) {
						t.Errorf("the other's first attempt goes on: %v", err)
					}
					order = append(order, "the overtaken one")
				}
				return tx.Set("books/one", nil)
			})
			if otherErr := <-ended; err != nil || otherErr != nil || strings.Join(order, ", ") != "the overtaken one, the other" {
				t.Errorf("%v is the order; they end with %v and %v", order, err, otherErr)
			}
		})
	}
}

func TestRun_CommitAnswerLost_IsNotResent(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown} {
		server := (&scripted{}).fail("commit", 1, code, "the connection broke")
		s := server.start(t, firestore.Options{})
		ran := 0
		err := s.Run(t.Context(), count(&ran))
		if _, commits, _ := server.counts(); !fault.Is(err, fault.Unavailable) || !errors.Is(err, store.ErrUnanswered) ||
			ran != 1 || commits != 1 {
			t.Errorf("%s: %d attempts, %d commits, %v", code, ran, commits, err)
		}
	}
}

// A connection that Google's front end breaks off ends what is under way on it by
// codes.Canceled, though nobody here left.
func TestCalls_WithoutEffect_AreRetried(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown} {
		server := (&scripted{}).fail("get", 2, code, "the connection broke").fail("commit", 1, code, "the connection broke")
		s := server.start(t, firestore.Options{})
		if _, err := s.Get(t.Context(), "books/one"); err != nil {
			t.Errorf("%s: a read ended with %v", code, err)
		}
		err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Get(ctx, "books/one")
			return err
		})
		if _, commits, _ := server.counts(); err != nil || commits != 2 {
			t.Errorf("%s: a transaction that only reads ended after %d commits with %v", code, commits, err)
		}
	}
}

// While Firestore is away each call ends soon: a waiting request holds a slot that another
// request could use.
func TestCalls_FirestoreIsSilent_EndSoon(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted} {
		server := (&scripted{}).fail("get", 1_000_000, code, "away")
		s := server.start(t, firestore.Options{Patience: time.Hour, Silence: brief / 10})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.Get(ctx, "books/one")
		if reads, _, _ := server.counts(); !fault.Is(err, fault.Unavailable) || reads < 2 || ctx.Err() != nil {
			t.Errorf("%s: %d reads ended with %v", code, reads, err)
		}
		err = s.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Get(ctx, "books/one")
			return err
		})
		if !fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
			t.Errorf("%s: a transaction ended with %v", code, err)
		}
	}
}

// Silence ends with the first answer, be it that others have the documents.
func TestRun_AfterSilence_ContentionGetsFullPatience(t *testing.T) {
	t.Parallel()
	server := (&scripted{}).fail("get", 1, codes.Unavailable, "away").fail("get", 5, codes.Aborted, "")
	s := server.start(t, firestore.Options{Patience: time.Hour, Silence: 20 * time.Millisecond}) // the first pause is shorter
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		_, err := tx.Get(ctx, "books/one")
		return err
	})
	if reads, _, _ := server.counts(); err != nil || reads != 7 {
		t.Errorf("%d reads ended with %v", reads, err)
	}
}

func TestRun_ReadFails_RerunsWhateverFnReturned(t *testing.T) {
	t.Parallel()
	server := (&scripted{}).fail("get", 1, codes.Unavailable, "").fail("get", 1, codes.Aborted, "")
	s := server.start(t, firestore.Options{})
	ran := 0
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		ran++
		if _, err := tx.Get(ctx, "books/one"); ran == 1 && err != nil {
			return nil //nolint:nilerr // it goes on as if nothing was there
		} else if err != nil {
			return errors.New("a conclusion from nothing")
		}
		return tx.Set("books/one", nil)
	})
	if _, commits, _ := server.counts(); err != nil || ran != 3 || commits != 1 {
		t.Fatalf("%d attempts and %d commits ended with %v", ran, commits, err)
	}
}

func TestRun_OnlyWrites_IsOneRequest(t *testing.T) {
	t.Parallel()
	server := &scripted{}
	s := server.start(t, firestore.Options{})
	err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return errors.Join(tx.Create("books/one", nil), tx.Delete("books/two"))
	})
	if reads, commits, rollbacks := server.counts(); err != nil || reads != 0 || commits != 1 || rollbacks != 0 {
		t.Fatalf("%d reads, %d commits, %d rollbacks, %v", reads, commits, rollbacks, err)
	}
	if commit := server.commits[0]; commit.GetTransaction() != nil || len(commit.GetWrites()) != 2 {
		t.Fatalf("it sent %v", commit)
	}
	if err := s.Run(t.Context(), func(context.Context, store.Tx) error { return nil }); err != nil || len(server.commits) != 1 {
		t.Fatalf("nothing to do took %d requests: %v", len(server.commits)-1, err)
	}
}

func TestRun_FunctionFails_ReleasesLocks(t *testing.T) {
	t.Parallel()
	server := &scripted{}
	s := server.start(t, firestore.Options{})
	own := errors.New("own")
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if _, err := tx.Get(ctx, "books/one"); err != nil {
			return err
		}
		cancel() // the caller leaves as well
		return own
	})
	if _, commits, rollbacks := server.counts(); !errors.Is(err, own) || commits != 0 || rollbacks != 1 {
		t.Fatalf("%d commits, %d rollbacks, %v", commits, rollbacks, err)
	}
}

func TestRun_UpdatesNameTheirFields(t *testing.T) {
	t.Parallel()
	server := &scripted{}
	s := server.start(t, firestore.Options{})
	err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return errors.Join(
			tx.Update("books/one", store.Update{Path: store.Field("a", "b-c.d`e\\f"), Value: 1}, store.Update{
				Path: store.Field("gone"), Value: store.Delete,
			}),
			tx.Merge("books/one", store.Update{Path: store.Field("_x1", "1x", "é"), Value: nil}))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a.`b-c.d\\`e\\\\f` gone", "_x1.`1x`.`é`"} {
		write := server.commits[0].GetWrites()[i]
		if got := strings.Join(write.GetUpdateMask().GetFieldPaths(), " "); got != want {
			t.Errorf("the mask is %s, want %s", got, want)
		}
		if _, there := write.GetUpdate().GetFields()["gone"]; there {
			t.Error("what is to go is written")
		}
	}
}

func TestCalls_ThatHang_TimeOut(t *testing.T) {
	t.Parallel()
	server := &scripted{hang: map[string]bool{"get": true, "commit": true}}
	s := server.start(t, firestore.Options{CallTimeout: brief / 10, Patience: brief})
	_, err := s.Get(t.Context(), "books/one")
	if reads, _, _ := server.counts(); !fault.Is(err, fault.Unavailable) || reads < 2 {
		t.Errorf("%d reads ended with %v", reads, err)
	}
	err = s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set("books/one", nil) })
	if _, commits, _ := server.counts(); !fault.Is(err, fault.Unavailable) || commits > 1 {
		t.Errorf("%d commits ended with %v", commits, err)
	}
}
