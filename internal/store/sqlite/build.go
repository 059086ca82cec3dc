package sqlite

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
)

const (
	// stepDocuments and stepPaths are the most documents that a step of the build puts into
	// indexes, and the most paths that it looks at: other writers wait for a step.
	stepDocuments = 200
	stepPaths     = 2000
	// stepsLogged is how many steps come between two lines of the log.
	stepsLogged = 100
	// buildRetry is how long the build waits after a failure.
	buildRetry = time.Minute
)

// build is the building of new indexes, in the background. Each step is a transaction that also
// stores how far it came, so that it goes on where it was after any end of the process. Writes of
// documents keep every index right, whether it has the document already or not, and queries of an
// index that is not complete read the documents that it may lack (scanRest).
type build struct {
	stop  context.CancelFunc
	ended chan struct{} // closed when no step comes any more
	// documents and indexes count what was done since the file was opened.
	documents, indexes int
}

// startBuild takes the first step, which is all for a small file, and leaves the others to the
// background.
func (s *Store) startBuild(ctx context.Context, held bool) error {
	background, stop := context.WithCancel(context.Background())
	s.build = build{stop: stop, ended: make(chan struct{})}
	if held {
		close(s.build.ended)
		return nil
	}
	more, err := s.buildStep(ctx)
	if err != nil || !more {
		close(s.build.ended)
		return err
	}
	s.log.Info("building indexes of newly declared queries", "indexes", len(s.unfinished()))
	go s.buildOn(background)
	return nil
}

// buildOn takes the steps that are left. A failure is tried again.
func (s *Store) buildOn(ctx context.Context) {
	defer close(s.build.ended)
	for steps := 1; ; steps++ {
		more, err := s.buildStep(ctx)
		switch {
		case ctx.Err() != nil || err == nil && !more:
			return
		case err != nil:
			s.log.Warn("indexes cannot be built; trying again", "error", err)
			select {
			case <-time.After(buildRetry):
			case <-ctx.Done():
			}
		case steps%stepsLogged == 0:
			s.log.Info("building indexes goes on", "documents", s.build.documents)
		}
	}
}

// unfinished lists the indexes that lack documents, by their place in the set: the first, and those
// that have the same documents.
func (s *Store) unfinished() (behind []int) {
	var first *store.Path
	for i, index := range s.indexes {
		built := index.built.Load()
		if first == nil {
			first = built
		}
		if built != nil && *built == *first {
			behind = append(behind, i)
		}
	}
	return behind
}

// buildStep takes a step. more: indexes are unfinished still.
func (s *Store) buildStep(ctx context.Context) (more bool, err error) {
	behind := s.unfinished()
	if len(behind) == 0 {
		return false, nil
	}
	at, documents, complete := *s.indexes[behind[0]].built.Load(), 0, false
	err = s.commits.do(ctx, func(session *session) error {
		return session.together(func() (err error) {
			at, documents, complete, err = s.buildFrom(session, behind, at)
			return err
		})
	})
	if err != nil {
		return true, err
	}
	s.build.documents += documents
	for _, i := range behind {
		if complete {
			s.indexes[i].built.Store(nil)
			s.build.indexes++
		} else {
			s.indexes[i].built.Store(&at)
		}
	}
	more = len(s.unfinished()) > 0
	if !more {
		s.log.Info("built indexes of newly declared queries", "indexes", s.build.indexes, "documents", s.build.documents)
	}
	return more, nil
}

// buildFrom puts the next documents behind a path into some indexes, and stores how far it came.
// It reads the documents of their collections alone.
func (s *Store) buildFrom(session *session, behind []int, from store.Path) (to store.Path, documents int, complete bool, err error) {
	next, err := placesBehind(session, from)
	if err != nil {
		return "", 0, false, err
	}
	to, complete = from, len(next) < stepPaths
	for _, at := range next {
		in := slices.DeleteFunc(slices.Clone(s.queries.Holding(at.path)), func(i int) bool { return !slices.Contains(behind, i) })
		if len(in) > 0 && documents == stepDocuments {
			complete = false
			break
		}
		if len(in) > 0 {
			documents++
			if err := s.index(session, at, in); err != nil {
				return "", 0, false, err
			}
		}
		to = at.path
	}
	var built any = string(to)
	if complete {
		built = nil
	}
	for _, i := range behind {
		if err := session.exec(markBuilt, built, s.indexes[i].id); err != nil {
			return "", 0, false, err
		}
	}
	return to, documents, complete, nil
}

// index adds a document's entries to some indexes, which may have them.
func (s *Store) index(session *session, at numbered, in []int) error {
	data, err := getOne(context.Background(), session.statements, at.path)
	if err != nil {
		return err
	}
	for _, i := range in {
		for _, entry := range keptEntries(s.queries.Indexes()[i], at.path, data) {
			if err := session.exec(addEntry, s.indexes[i].id, string(entry.Parent), entry.Key, at.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbered is a document's path and its number in the file.
type numbered struct {
	id   int64
	path store.Path
}

func placesBehind(session *session, from store.Path) (next []numbered, err error) {
	rows, err := session.statements(listPaths).QueryContext(context.Background(), string(from), stepPaths)
	err = eachRow(rows, err, func() error {
		var at numbered
		err := rows.Scan(&at.id, &at.path)
		next = append(next, at)
		return err
	})
	return next, err
}
