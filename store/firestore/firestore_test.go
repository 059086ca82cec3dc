package firestore_test

import (
	"testing"

	"questscheduler/internal/emulator"
	"questscheduler/store"
	"questscheduler/store/firestore"
	"questscheduler/store/storetest"
)

// openProject opens a project of the emulator until the test ends.
func openProject(t *testing.T, host, project string, queries []*store.Query) *firestore.Store {
	t.Helper()
	s, err := firestore.Open(t.Context(), firestore.Options{Project: project, Emulator: host, Queries: queries})
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

func open(t *testing.T, queries []*store.Query) *firestore.Store {
	t.Helper()
	host, project := emulator.Project(t)
	return openProject(t, host, project, queries)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, queries []*store.Query) store.Store { return open(t, queries) })
}

func TestConformance_Durable(t *testing.T) {
	t.Parallel()
	storetest.RunDurable(t, func(t *testing.T) storetest.Place {
		host, project := emulator.Project(t)
		return server{host, project}
	})
}

// server is a project as a place of the suite: our death leaves it as it is.
type server struct{ host, project string }

func (s server) Open(t *testing.T, queries []*store.Query) store.Store {
	t.Helper()
	return openProject(t, s.host, s.project, queries)
}

func (s server) Crash(*testing.T) storetest.Place { return s }
