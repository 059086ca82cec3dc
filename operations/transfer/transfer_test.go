package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/test/emulator"
	"questscheduler/operations/transfer"
)

// openFirestore opens a project of the emulator until the test ends.
func openFirestore(t *testing.T) *firestore.Store {
	t.Helper()
	host, project := emulator.Project(t)
	s, err := firestore.Open(t.Context(), firestore.Options{Project: project, Emulator: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestImport_ToFirestoreAndBack_IsTheSame(t *testing.T) {
	t.Parallel()
	file := exported(t, values())
	there := openFirestore(t)
	if _, before, err := into(t, file, there); err != nil || before {
		t.Fatal(before, err)
	}
	values().in(t, there)
	back := openFile(t)
	if _, _, err := into(t, export(t, there), back); err != nil {
		t.Fatal(err)
	}
	values().in(t, back)
}

// TestImport_KilledOnFirestore_GoesOn: in the middle of the batches, and with a batch's answer lost.
func TestImport_KilledOnFirestore_GoesOn(t *testing.T) {
	t.Parallel()
	file := exported(t, polls(500))
	there := &target{Target: openFirestore(t), commit: func(n int, run func() error) error {
		if n == 4 {
			return errKilled
		}
		return run()
	}}
	if _, _, err := into(t, file, there); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	there.commit = func(n int, run func() error) error {
		if n == 5 {
			return errors.Join(run(), fault.Wrap(fault.Unavailable, store.ErrUnanswered, ""))
		}
		return run()
	}
	if _, _, err := into(t, file, there); err != nil {
		t.Fatal(err)
	}
	polls(500).in(t, there)
	if len(there.created) != 1500 {
		t.Errorf("%d documents were created, want 1500", len(there.created))
	}
}

// TestImport_KilledAnywhere_GoesOnWhereItWas: whether the last commit took effect or not.
func TestImport_KilledAnywhere_GoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	file, commits := exported(t, polls(600)), 0
	whole := &target{Target: openFile(t)}
	if _, _, err := into(t, file, whole); err != nil {
		t.Fatal(err)
	}
	commits = whole.commits
	if commits < 6 {
		t.Fatalf("it took %d commits, too few to be killed between them", commits)
	}
	for kill := 1; kill <= commits; kill++ {
		for _, committed := range []bool{false, true} {
			t.Run(fmt.Sprintf("commit %d, which took effect: %v", kill, committed), func(t *testing.T) {
				t.Parallel()
				there := &target{Target: openFile(t), commit: func(n int, run func() error) error {
					if n != kill {
						return run()
					}
					if committed {
						return errors.Join(run(), errKilled)
					}
					return errKilled
				}}
				if _, _, err := into(t, file, there); !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				done := committed && kill == commits
				if begun := kill > 1 || committed; begun && !done && !fault.Is(transfer.Unfinished(t.Context(), there), fault.Conflict) {
					t.Error("nothing says that it has not ended")
				}
				if _, before, err := into(t, file, there); err != nil || before != done {
					t.Fatal(before, err)
				}
				polls(600).in(t, there)
				if len(there.created) != 1800 {
					t.Errorf("%d documents were created, want 1800", len(there.created))
				}
				if there.commits > commits+1 || there.reads > kill {
					t.Errorf("it took %d commits and %d reads, want %d and %d at most", there.commits, there.reads, commits+1, kill)
				}
				if err := transfer.Unfinished(t.Context(), there); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestImport_NoAnswer_TriesAgain: as often as it makes sense.
func TestImport_NoAnswer_TriesAgain(t *testing.T) {
	t.Parallel()
	unanswered := fault.Wrap(fault.Unavailable, store.ErrUnanswered, "")
	file := exported(t, polls(600))
	for _, took := range []bool{false, true} {
		there := &target{Target: openFile(t), commit: func(n int, run func() error) error {
			switch {
			case n != 2 && n != 4:
				return run()
			case took:
				return errors.Join(run(), unanswered)
			default:
				return unanswered
			}
		}}
		if _, _, err := into(t, file, there); err != nil {
			t.Fatal(err)
		}
		polls(600).in(t, there)
	}
	silent := &target{Target: openFile(t), commit: func(n int, run func() error) error {
		if n == 1 {
			return run()
		}
		return unanswered
	}}
	if _, _, err := into(t, file, silent); !fault.Is(err, fault.Unavailable) || silent.commits > 10 {
		t.Errorf("after %d commits it returns %v", silent.commits, err)
	}
}

func TestImport_Again_WritesNothing(t *testing.T) {
	t.Parallel()
	file := exported(t, polls(3))
	there := &target{Target: openFile(t)}
	if _, _, err := into(t, file, there); err != nil {
		t.Fatal(err)
	}
	served := documents{"schedulers/0001": {"title": "changed by the server"}, "schedulers/new": {}}
	served.write(t, there)
	commits := there.commits
	if contents, before, err := into(t, file, there); err != nil || !before || there.commits != commits || contents.Documents != 9 {
		t.Errorf("%v, %v, with %d commits more", before, err, there.commits-commits)
	}
}

// TestImport_WritesPollsFirst: what belongs to a poll must not be older than it.
func TestImport_WritesPollsFirst(t *testing.T) {
	t.Parallel()
	there := &target{Target: openFile(t)}
	if _, _, err := into(t, exported(t, polls(600)), there); err != nil {
		t.Fatal(err)
	}
	if len(there.created) != 1800 {
		t.Fatalf("it wrote %d documents", len(there.created))
	}
	for i, path := range there.created {
		if is := path.Collection() == "schedulers"; is != (i < 600) {
			t.Fatalf("document %d is %s", i, path)
		}
	}
}

func TestImport_OverTheLimitsOfACommit_TakesSmallerOnes(t *testing.T) {
	t.Parallel()
	there := &target{Target: openFile(t)}
	there.commit = func(_ int, run func() error) error {
		before := len(there.created)
		if err := run(); err != nil {
			return err
		}
		if len(there.created)-before > 100 {
			t.Errorf("a commit of %d documents was not refused", len(there.created)-before)
		}
		return nil
	}
	limited := &limited{there}
	if _, _, err := into(t, exported(t, polls(600)), limited); err != nil {
		t.Fatal(err)
	}
	polls(600).in(t, there)
}

// limited refuses transactions of more than 100 documents.
type limited struct{ *target }

// Run implements store.Store.
func (s *limited) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return s.target.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var made []store.Path
		if err := fn(ctx, recorded{tx, &made}); err != nil {
			return err
		}
		if len(made) > 100 {
			return fault.New(fault.TooLarge, "too large")
		}
		return nil
	})
}

func TestImport_OtherDocumentsThere_AreNotTouched(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]documents{
		"a document":                          {"users/gm": {"email": "gm@example.com"}},
		"a document of the file":              {"schedulers/0001": {"title": "Poll 0001"}},
		"a document of a parent that is none": {"books/absent/pages/1": {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := openFile(t)
			there.write(t, target)
			_, _, err := into(t, exported(t, polls(3)), target)
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "import into an empty database or data file") {
				t.Errorf("it returns %v", err)
			}
			there.in(t, target)
			if err := transfer.Unfinished(t.Context(), target); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestImport_AnotherImportThere_IsNotTouched(t *testing.T) {
	t.Parallel()
	there := openFile(t)
	if _, _, err := into(t, exported(t, polls(3)), there); err != nil {
		t.Fatal(err)
	}
	if _, _, err := into(t, exported(t, polls(4)), there); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "another import") {
		t.Errorf("it returns %v", err)
	}
	polls(3).in(t, there)
}

// TestImport_SomethingElseWrites_IsFound: between its last batch and its end.
func TestImport_SomethingElseWrites_IsFound(t *testing.T) {
	t.Parallel()
	file := exported(t, polls(3))
	for name, row := range map[string]struct {
		write func(tx store.Tx) error
		says  string
	}{
		"a changed document": {
			func(tx store.Tx) error { return tx.Set("schedulers/0001/slots/s", map[string]any{"n": 1.0}) }, "slots: 3 documents with",
		},
		"a document more":  {func(tx store.Tx) error { return tx.Set("users/gm", map[string]any{}) }, "users: 1 documents with"},
		"a document fewer": {func(tx store.Tx) error { return tx.Delete("announcements/0002") }, "announcements: 2 documents with"},
		"a document of another id": {
			func(tx store.Tx) error {
				return errors.Join(tx.Delete("announcements/0002"), tx.Set("announcements/0003", map[string]any{"pollId": "0002"}))
			}, "announcements: 3 documents with",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := openFile(t)
			there := &target{Target: inner, commit: func(n int, run func() error) error {
				if err := run(); err != nil || n != 3 { // the mark, the polls, and the rest
					return err
				}
				return inner.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return row.write(tx) })
			}}
			_, _, err := into(t, file, there)
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("it returns %v, which lacks %q", err, row.says)
			}
			if !fault.Is(transfer.Unfinished(t.Context(), there), fault.Conflict) {
				t.Error("it counts as ended")
			}
		})
	}
}

// TestImport_ContinuedOverAChange_OverwritesNothing names the document.
func TestImport_ContinuedOverAChange_OverwritesNothing(t *testing.T) {
	t.Parallel()
	file := exported(t, polls(3))
	there := &target{Target: openFile(t), commit: func(n int, run func() error) error {
		if n == 3 {
			return errKilled
		}
		return run()
	}}
	if _, _, err := into(t, file, there); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	there.commit = nil
	documents{"schedulers/0001": {"title": "Poll 0009"}}.write(t, there)
	_, _, err := into(t, file, there)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "schedulers/0001 is another document than in the file") {
		t.Errorf("it returns %v", err)
	}
	got, err := there.Get(t.Context(), "schedulers/0001")
	if err != nil || got.Data["title"] != "Poll 0009" {
		t.Errorf("it is %v (%v)", got.Data, err)
	}
}

// TestImport_FileReplacedMeanwhile_HasNotEnded: it is another one than was checked.
func TestImport_FileReplacedMeanwhile_HasNotEnded(t *testing.T) {
	t.Parallel()
	files, there := [][]byte{exported(t, polls(3)), exported(t, polls(4))}, openFile(t)
	opened := 0
	job := &transfer.Import{
		Open: func() (io.ReadCloser, error) {
			opened++
			return io.NopCloser(bytes.NewReader(files[min(opened, 2)-1])), nil
		},
		Into: there, Progress: quiet,
	}
	if err := job.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := job.Run(t.Context()); !fault.Is(err, fault.Invalid) || !fault.Is(transfer.Unfinished(t.Context(), there), fault.Conflict) {
		t.Errorf("it returns %v", err)
	}
}

// TestImport_Interrupted_EndsAtOnce: between two documents, and nothing is written any more.
func TestImport_Interrupted_EndsAtOnce(t *testing.T) {
	t.Parallel()
	file := exported(t, polls(600))
	ctx, interrupt := context.WithCancel(t.Context())
	there := &target{Target: openFile(t)}
	job := &transfer.Import{
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }, Into: there, First: "schedulers",
		Progress: func(step string, _ int) {
			if step == "checked" {
				interrupt()
			}
		},
	}
	if err := job.Check(ctx); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the check returns %v", err)
	}
	if _, _, err := job.Run(ctx); !fault.Is(err, fault.Unavailable) || there.commits > 0 {
		t.Errorf("with %d commits it returns %v", there.commits, err)
	}
}

func TestExport_OfAnUnfinishedImport_IsRefused(t *testing.T) {
	t.Parallel()
	there := &target{Target: openFile(t), commit: func(n int, run func() error) error {
		if n == 2 {
			return errKilled
		}
		return run()
	}}
	if _, _, err := into(t, exported(t, polls(3)), there); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), there, &file, noon, quiet); !fault.Is(err, fault.Conflict) || file.Len() > 0 {
		t.Errorf("it returns %v and writes %q", err, file.Bytes())
	}
}

// begun is a source into which an import begins once it was checked for one.
type begun struct{ transfer.Target }

// EachDocument implements transfer.Source.
func (b begun) EachDocument(ctx context.Context, do func(store.Document) error) error {
	err := b.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return errors.Join(tx.Set("transfers/import", map[string]any{"file": "x", "done": false}), tx.Set("books/one", map[string]any{}))
	})
	if err != nil {
		return err
	}
	return b.Target.EachDocument(ctx, do)
}

func TestExport_ImportBeginsMeanwhile_IsRefused(t *testing.T) {
	t.Parallel()
	_, err := transfer.Export(t.Context(), begun{openFile(t)}, &bytes.Buffer{}, noon, quiet)
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("it returns %v", err)
	}
}

// TestExport_NotImportable_NamesTheDocument: what Read would refuse is no export.
func TestExport_NotImportable_NamesTheDocument(t *testing.T) {
	t.Parallel()
	deep := map[string]any{}
	for range 30 {
		deep = map[string]any{"m": deep}
	}
	for name, document := range map[string]store.Document{
		"a reserved id": {Path: "books/__id7__", Data: map[string]any{}},
		"too deep":      {Path: "books/deep", Data: deep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := transfer.Export(t.Context(), given{openFile(t), document}, &bytes.Buffer{}, noon, quiet)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), string(document.Path)) {
				t.Errorf("it returns %v", err)
			}
		})
	}
}

// given is a source of one document.
type given struct {
	transfer.Target
	document store.Document
}

// EachDocument implements transfer.Source.
func (g given) EachDocument(_ context.Context, do func(store.Document) error) error {
	return do(g.document)
}

// TestImport_AnotherBegins_IsNotTakenOver: between the reading of an empty store and the mark.
func TestImport_AnotherBegins_IsNotTakenOver(t *testing.T) {
	t.Parallel()
	inner := openFile(t)
	there := &target{Target: inner, commit: func(n int, run func() error) error {
		if n == 1 {
			documents{"transfers/import": {"file": "another", "done": false}}.write(t, inner)
		}
		return run()
	}}
	if _, _, err := into(t, exported(t, polls(3)), there); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "another import") {
		t.Errorf("it returns %v", err)
	}
	mark, err := inner.Get(t.Context(), "transfers/import")
	if err != nil || mark.Data["file"] != "another" {
		t.Errorf("the mark is %v (%v)", mark.Data, err)
	}
	documents{}.in(t, inner)
}

// TestImport_DocumentOverTheLimits_IsNamed: where no smaller batch helps.
func TestImport_DocumentOverTheLimits_IsNamed(t *testing.T) {
	t.Parallel()
	there := &target{Target: openFile(t), commit: func(n int, run func() error) error {
		if n == 1 {
			return run()
		}
		return fault.New(fault.TooLarge, "too large")
	}}
	_, _, err := into(t, exported(t, documents{"books/one": {}}), there)
	if !fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), "books/one") {
		t.Errorf("it returns %v", err)
	}
}

// foreign is a source with a value that only other programs write.
type foreign struct{ transfer.Target }

// EachDocument implements transfer.Source.
func (foreign) EachDocument(_ context.Context, do func(store.Document) error) error {
	return do(store.Document{Path: "books/one", Data: map[string]any{"list": []any{firestore.Foreign{}}}})
}

func TestExport_ForeignValue_NamesTheDocument(t *testing.T) {
	t.Parallel()
	_, err := transfer.Export(t.Context(), foreign{openFile(t)}, &bytes.Buffer{}, noon, quiet)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "books/one") || !strings.Contains(err.Error(), "bytes, a reference") {
		t.Errorf("it returns %v", err)
	}
}

func TestExport_IsWhatFilesHold(t *testing.T) {
	t.Parallel()
	got := strings.Split(string(exported(t, documents{"books/<one>": {"n": int64(1), "d": 1.0, "t": noon, "nan": math.NaN()}})), "\n")
	want := []string{
		`{"export":"questscheduler","version":1,"at":"2026-03-01T12:00:00Z"}`,
		`{"path":"books/<one>","data":{"d":1.0,"n":1,"nan":{"$double":"NaN"},"t":{"$time":"2026-03-01T12:00:00Z"}}}`,
		`{"documents":1,"collections":{"books":{"documents":1,"sum":"SUM"}},"sha256":"SHA"}`, "",
	}
	if len(got) != len(want) || !slices.Equal(got[:2], want[:2]) {
		t.Errorf("the file is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
