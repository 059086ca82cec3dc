package firestore_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/test/memorystore"
	"questscheduler/web-hooks/documentchanges"
)

// sendWritten sends documents as written at a second.
func sendWritten(stream pb.Firestore_ListenServer, at int64, ids ...string) error {
	for _, id := range ids {
		name := "projects/demo-scripted/databases/(default)/documents/schedulers/" + id
		written := &pb.DocumentChange{
			Document: &pb.Document{Name: name, UpdateTime: &timestamppb.Timestamp{Seconds: at}}, TargetIds: []int32{1},
		}
		err := stream.Send(&pb.ListenResponse{ResponseType: &pb.ListenResponse_DocumentChange{DocumentChange: written}})
		if err != nil {
			return err
		}
	}
	return nil
}

// sendConsistent ends what was sent before, with a token that resumes there.
func sendConsistent(stream pb.Firestore_ListenServer, token string) error {
	for _, change := range []*pb.TargetChange{
		{TargetChangeType: pb.TargetChange_CURRENT, TargetIds: []int32{1}},
		{ResumeToken: []byte(token), ReadTime: &timestamppb.Timestamp{Seconds: 9}},
	} {
		if err := stream.Send(&pb.ListenResponse{ResponseType: &pb.ListenResponse_TargetChange{TargetChange: change}}); err != nil {
			return err
		}
	}
	return nil
}

func TestListen_OfMoreThanIsTakenAtOnce_GoesOnBehindWhatWasTaken(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 2500 {
		all = append(all, fmt.Sprintf("poll%04d", i))
	}
	server := &scripted{streams: func(asked *pb.Target, stream pb.Firestore_ListenServer) error {
		if asked.GetResumeToken() == nil {
			if err := errors.Join(sendWritten(stream, 5, all...), sendConsistent(stream, "behind all")); err != nil {
				return err
			}
		}
		return status.Error(codes.Unavailable, "nothing else")
	}}
	s := server.start(t, firestore.Options{})
	following := firestore.Follow("schedulers", time.Time{})
	reported := map[store.Path]bool{}
	for range 3 {
		taken := 0
		err := s.Listen(t.Context(), following, func(_ context.Context, changed []store.Path) error {
			for _, path := range changed {
				if taken == 1000 {
					return fault.New(fault.Unavailable, "not more now")
				}
				taken++
				reported[path] = true
			}
			return nil
		})
		if !fault.Is(err, fault.Unavailable) {
			t.Fatalf("it ends with %v", err)
		}
	}
	if len(reported) != len(all) {
		t.Errorf("of %d it reports %d", len(all), len(reported))
	}
	last := server.targets[len(server.targets)-1]
	if len(server.targets) != 2 || string(last.GetResumeToken()) != "behind all" {
		t.Errorf("of %d streams, the last resumes at %q", len(server.targets), last.GetResumeToken())
	}
}

// woken keeps which polls it woke.
type woken struct {
	mu  sync.Mutex
	ids []string
}

// Wake implements outbox.Waker.
func (w *woken) Wake(_ context.Context, _, id, _ string, _ time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids = append(w.ids, id)
	return nil
}

// schedulersOf is a documentchanges.Source.
type schedulersOf struct {
	store     *firestore.Store
	following *firestore.Following
}

// Listen implements documentchanges.Source.
func (s *schedulersOf) Listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error {
	if !since.IsZero() {
		s.following = firestore.Follow("schedulers", since)
	}
	return s.store.Listen(ctx, s.following, func(ctx context.Context, changed []store.Path) error {
		var ids []string
		for _, path := range changed {
			ids = append(ids, path.ID())
		}
		return heard(ctx, ids)
	})
}

// listenThrough has a Listener listen to a scripted server until the test ends.
func listenThrough(t *testing.T, server *scripted) *woken {
	t.Helper()
	documents, err := memorystore.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	log, waker := slog.New(slog.DiscardHandler), &woken{}
	l := &documentchanges.Listener{
		Source:   &schedulersOf{store: server.startInMemory(t)},
		Intake:   &documentchanges.Intake{Outbox: &outbox.Outbox{Waker: waker, Now: time.Now, Log: log}, Now: time.Now},
		Store:    documents,
		Instance: "one",
		NewTrace: func() string { return "trace" },
		Wait: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		},
		Log: log,
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return waker
}

func TestListen_AFirstListingOfMinutes_EndsAndIsAskedForOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		written := make(chan string, 2)
		server := &scripted{streams: func(asked *pb.Target, stream pb.Firestore_ListenServer) error {
			for i := 0; i < 21 && asked.GetResumeToken() == nil; i++ {
				time.Sleep(10 * time.Second)
				if err := sendWritten(stream, 5, fmt.Sprintf("old%d", i)); err != nil {
					return err
				}
			}
			err := sendConsistent(stream, "listed")
			for err == nil {
				select {
				case <-stream.Context().Done():
					return nil
				case id := <-written:
					err = errors.Join(sendWritten(stream, time.Now().Unix(), id), sendConsistent(stream, "written"))
				}
			}
			return err
		}}
		heard := listenThrough(t, server)
		time.Sleep(225 * time.Second)
		written <- "new"
		time.Sleep(5 * time.Minute)
		written <- "newer"
		synctest.Wait()
		heard.mu.Lock()
		defer heard.mu.Unlock()
		if !slices.Equal(heard.ids, []string{"new", "newer"}) {
			t.Errorf("it reports %v", heard.ids)
		}
		server.mu.Lock()
		defer server.mu.Unlock()
		for i, asked := range server.targets {
			if (asked.GetResumeToken() == nil) != (i == 0) {
				t.Errorf("the stream %d of %d resumes at %q", i, len(server.targets), asked.GetResumeToken())
			}
		}
		if len(server.targets) < 5 {
			t.Errorf("in minutes it asks %d times alone, and notices no dead connection", len(server.targets))
		}
	})
}

func TestListen_AFirstListingThatFallsSilent_IsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &scripted{streams: func(_ *pb.Target, stream pb.Firestore_ListenServer) error {
			err := sendWritten(stream, 5, "old")
			<-stream.Context().Done()
			return err
		}}
		s := server.startInMemory(t)
		err := s.Listen(t.Context(), firestore.Follow("schedulers", time.Now()), func(context.Context, []store.Path) error { return nil })
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("it ends with %v", err)
		}
	})
}

func TestListen_SilentOnceItHasCaughtUp_ResumesWithoutAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &scripted{streams: func(_ *pb.Target, stream pb.Firestore_ListenServer) error {
			err := sendConsistent(stream, "listed")
			<-stream.Context().Done()
			return err
		}}
		s := server.startInMemory(t)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Second)
		defer cancel()
		err := s.Listen(ctx, firestore.Follow("schedulers", time.Now()), func(context.Context, []store.Path) error { return nil })
		server.mu.Lock()
		defer server.mu.Unlock()
		if err != nil || ctx.Err() == nil || len(server.targets) != 6 {
			t.Errorf("with %v, %v, it asked %d times", err, ctx.Err(), len(server.targets))
		}
	})
}
