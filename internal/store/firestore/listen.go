package firestore

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"questscheduler/internal/store"
)

// Following is how far a listener has come in a collection, or in all of a name: what Listen goes on
// from. It is for one Listen at a time, and lives in memory alone.
type Following struct {
	collection string
	group      bool // of that name below any document
	since      time.Time
	// view are the documents as they were told of last, each with the time of its
	// last write; nil before the first listing.
	view map[store.Path]time.Time
	// token is where Firestore goes on from; nil: with a listing of everything.
	token []byte
}

// Follow begins to follow a top-level collection. What stands in it already is
// told of where it was written after since.
func Follow(collection string, since time.Time) *Following {
	return &Following{collection: collection, since: since}
}

// FollowGroup begins to follow the collections of a name below every document, as
// Follow does one collection.
func FollowGroup(collection string, since time.Time) *Following {
	return &Following{collection: collection, group: true, since: since}
}

// Listen tells which documents of a collection were written or removed, until
// ctx ends, which is no error. It goes on from where the last Listen of the same
// Following ended: what happened meanwhile is told of first. A change may be told
// of twice and several changes of a document once; none is left out but the
// removal of a document before the first listing. Where heard fails, the same
// changes are told of again by the next Listen.
//
// The errors are those of reads. Where Firestore does not go on from where it
// was, everything is listed anew, and what differs is told of.
func (s *Store) Listen(ctx context.Context, following *Following, heard func(ctx context.Context, changed []store.Path) error) error {
	if err := s.enter(ctx, store.Doc(following.collection, "any")); err != nil {
		return err
	}
	err := s.listen(ctx, following, heard)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // that it was asked to end is what it ended by
	}
	if errors.Is(err, io.EOF) {
		err = errCutShort
	}
	if err != nil && !again(err) {
		following.token = nil // it may be what is refused
	}
	return s.explain(ctx, err)
}

// target is the number that a stream calls its one query by.
const target = 1

func (s *Store) listen(ctx context.Context, following *Following, heard func(ctx context.Context, changed []store.Path) error) error {
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "google-cloud-resource-prefix", s.database))
	defer cancel() // the stream ends with it
	stream, err := s.client.Listen(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(s.added(following)); err != nil {
		return err
	}
	// Without a place to go on from, everything is listed.
	change := delta{documents: map[store.Path]time.Time{}, reset: following.token == nil}
	for {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		complete, err := s.take(following, &change, response)
		if err != nil {
			if errors.Is(err, errStale) {
				following.token = nil
			}
			return err
		}
		if !complete {
			continue
		}
		if changed := following.differing(change); len(changed) > 0 {
			if err := heard(ctx, changed); err != nil {
				return err
			}
		}
		following.apply(change)
		change = delta{documents: map[store.Path]time.Time{}, current: true}
	}
}

// added asks for the documents of the collection, from where the last stream
// ended.
func (s *Store) added(following *Following) *pb.ListenRequest {
	asked := &pb.Target{
		TargetId: target,
		TargetType: &pb.Target_Query{Query: &pb.Target_QueryTarget{
			Parent: s.root,
			QueryType: &pb.Target_QueryTarget_StructuredQuery{StructuredQuery: &pb.StructuredQuery{
				From: []*pb.StructuredQuery_CollectionSelector{{CollectionId: following.collection, AllDescendants: following.group}},
			}},
		}},
	}
	if following.token != nil {
		asked.ResumeType = &pb.Target_ResumeToken{ResumeToken: following.token}
	}
	return &pb.ListenRequest{Database: s.database, TargetChange: &pb.ListenRequest_AddTarget{AddTarget: asked}}
}

// delta is what a stream said since the last state that was whole.
type delta struct {
	// documents are those that were written, each with when; the zero time says
	// that one is not there any more.
	documents map[store.Path]time.Time
	// reset says that documents are all there are.
	reset bool
	// current says that the first listing is over.
	current bool
	token   []byte
}

// errStale says that what is known of the collection does not fit what Firestore
// counts: everything has to be listed anew.
var errStale = status.Error(codes.Unavailable, "the listener has lost its place")

// take notes what a response says; complete tells that it ends a whole state.
func (s *Store) take(following *Following, change *delta, response *pb.ListenResponse) (complete bool, err error) {
	switch said := response.GetResponseType().(type) {
	case *pb.ListenResponse_TargetChange:
		return change.turn(said.TargetChange)
	case *pb.ListenResponse_DocumentChange:
		document := said.DocumentChange.GetDocument()
		at := document.GetUpdateTime().AsTime()
		if slices.Contains(said.DocumentChange.GetRemovedTargetIds(), target) {
			at = time.Time{}
		}
		change.documents[s.pathOf(document.GetName())] = at
	case *pb.ListenResponse_DocumentDelete:
		change.documents[s.pathOf(said.DocumentDelete.GetDocument())] = time.Time{}
	case *pb.ListenResponse_DocumentRemove:
		change.documents[s.pathOf(said.DocumentRemove.GetDocument())] = time.Time{}
	case *pb.ListenResponse_Filter: // how many there are, after a pause
		if int(said.Filter.GetCount()) != following.size(*change) {
			return false, errStale
		}
	}
	return false, nil
}

// turn notes what became of the query as a whole.
func (d *delta) turn(change *pb.TargetChange) (complete bool, err error) {
	if len(change.GetResumeToken()) > 0 {
		d.token = change.GetResumeToken()
	}
	switch change.GetTargetChangeType() {
	case pb.TargetChange_REMOVE:
		return false, status.Error(codes.Code(change.GetCause().GetCode()), change.GetCause().GetMessage())
	case pb.TargetChange_RESET:
		d.documents, d.reset, d.current = map[store.Path]time.Time{}, true, false
	case pb.TargetChange_CURRENT:
		d.current = true
	case pb.TargetChange_NO_CHANGE:
		return d.current && len(change.GetTargetIds()) == 0 && change.GetReadTime() != nil, nil
	}
	return false, nil
}

// differing are the documents that a change is news about, in the order of their
// paths.
func (f *Following) differing(change delta) []store.Path {
	var changed []store.Path
	for path, at := range change.documents {
		before, known := f.view[path]
		news := !at.Equal(before)
		if f.view == nil {
			news = at.After(f.since)
		} else if at.IsZero() {
			news = known
		}
		if news {
			changed = append(changed, path)
		}
	}
	if change.reset {
		for path := range f.view {
			if _, still := change.documents[path]; !still {
				changed = append(changed, path)
			}
		}
	}
	slices.Sort(changed)
	return changed
}

// size is how many documents there are with a change.
func (f *Following) size(change delta) int {
	view := f.view
	if change.reset {
		view = nil
	}
	size := len(view)
	for path, at := range change.documents {
		_, known := view[path]
		switch {
		case at.IsZero() && known:
			size--
		case !at.IsZero() && !known:
			size++
		}
	}
	return size
}

// apply takes a change over.
func (f *Following) apply(change delta) {
	if f.view == nil || change.reset {
		f.view = map[store.Path]time.Time{}
	}
	for path, at := range change.documents {
		if f.view[path] = at; at.IsZero() {
			delete(f.view, path)
		}
	}
	if change.token != nil {
		f.token = change.token
	}
}
