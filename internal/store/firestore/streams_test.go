package firestore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
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
