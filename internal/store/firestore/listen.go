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

// Following is the state of a listener on a collection or collection group, from which the
// next Listen resumes. It is for one Listen at a time.
type Following struct {
	collection string
	group      bool
	since      time.Time
	// view are the update times of the documents as Firestore sent them last; nil before
	// the first listing.
	view map[store.Path]time.Time
	// token resumes the stream; nil: list everything.
	token []byte
	// unheard are in the view but not yet accepted by heard.
	unheard []store.Path
}

// Follow makes a listener on a top-level collection. Of the documents that exist already
// it reports those written after since.
func Follow(collection string, since time.Time) *Following {
	return &Following{collection: collection, since: since}
}

// FollowGroup is Follow for a collection group.
func FollowGroup(collection string, since time.Time) *Following {
	return &Following{collection: collection, group: true, since: since}
}

// Listen reports the documents that are written or deleted until ctx ends, which is no
// error. It resumes where the last Listen of the same Following ended. A change may be
// reported twice, and several changes of a document once; none is missed but deletions
// before the first listing. Changes for which heard fails are reported again by the next
// Listen. Where Firestore cannot resume, Listen lists everything and reports what differs.
// The errors are those of reads.
func (s *Store) Listen(ctx context.Context, following *Following, heard func(ctx context.Context, changed []store.Path) error) error {
	if err := s.enter(ctx, store.Doc(following.collection, "any")); err != nil {
		return err
	}
	err := s.listen(ctx, following, heard)
	for errors.Is(err, errOver) && following.token != nil {
		err = s.listen(ctx, following, heard)
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller ended it
	}
	if errors.Is(err, io.EOF) {
		err = errCutShort
	}
	// The token may be the reason, but not where heard refused something.
	if err != nil && !again(err) && len(following.unheard) == 0 {
		following.token = nil
	}
	return s.explain(ctx, err)
}

// streamFor is how long a stream is used once it has caught up, and how long it may be
// silent before, since nothing else shows that its connection is dead.
const streamFor = time.Minute

// errOver is the end of a stream after streamFor.
var errOver = status.Error(codes.Unavailable, "the listener gets no answer")

// target is the id of a stream's only query.
const target = 1

// mostHeard is how many documents heard gets at once.
const mostHeard = 100

func (s *Store) listen(ctx context.Context, following *Following, heard func(ctx context.Context, changed []store.Path) error) error {
	if err := following.report(ctx, heard); err != nil {
		return err
	}
	streaming, cancel := context.WithCancelCause(metadata.AppendToOutgoingContext(ctx, "google-cloud-resource-prefix", s.database))
	defer cancel(nil) // ends the stream
	over := time.AfterFunc(streamFor, func() { cancel(errOver) })
	defer over.Stop()
	stream, err := s.client.Listen(streaming)
	if err != nil {
		return err
	}
	if err := stream.Send(s.added(following)); err != nil {
		return err
	}
	change := delta{documents: map[store.Path]time.Time{}, reset: following.token == nil}
	for caughtUp := false; ; {
		response, err := stream.Recv()
		if errors.Is(context.Cause(streaming), errOver) {
			return errOver
		}
		if err != nil {
			return err
		}
		if !caughtUp {
			over.Reset(streamFor)
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
		caughtUp = true
		following.unheard = following.differing(change)
		following.apply(change)
		if err := following.report(ctx, heard); err != nil {
			return err
		}
		change = delta{documents: map[store.Path]time.Time{}, current: true}
	}
}

// report passes on what is unheard, in parts: what comes after a refused one is reported
// by a later call, so that a change of any size is heard in the end.
func (f *Following) report(ctx context.Context, heard func(ctx context.Context, changed []store.Path) error) error {
	for len(f.unheard) > 0 {
		part := f.unheard[:min(len(f.unheard), mostHeard)]
		if err := heard(ctx, part); err != nil {
			return err
		}
		f.unheard = f.unheard[len(part):]
	}
	return nil
}

// added is the request for the documents of the collection.
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

// delta is what a stream reported since its last consistent state.
type delta struct {
	// documents are the update times of changed documents; zero: deleted.
	documents map[store.Path]time.Time
	// reset: documents are all that exist.
	reset bool
	// current: the first listing is complete.
	current bool
	token   []byte
}

// errStale means that Following.view does not match Firestore's count of documents, so
// everything has to be listed again.
var errStale = status.Error(codes.Unavailable, "the listener has lost its place")

// take adds a response to the delta; complete: it reached a consistent state.
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
	case *pb.ListenResponse_Filter: // the count of documents
		if int(said.Filter.GetCount()) != following.size(*change) {
			return false, errStale
		}
	}
	return false, nil
}

// turn applies a change of the query as a whole.
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

// differing are the documents for which a delta differs from the view, sorted.
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

// size is the number of documents with the delta applied.
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

func (f *Following) apply(change delta) {
	if f.view == nil || change.reset {
		f.view = map[store.Path]time.Time{}
	}
	for path, at := range change.documents {
		f.view[path] = at
		if at.IsZero() {
			delete(f.view, path)
		}
	}
	if change.token != nil {
		f.token = change.token
	}
}
