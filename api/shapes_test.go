package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// pollJSON is a poll as a program reads it.
type pollJSON struct {
	ID               string
	Title            string
	Status           string
	CreatorID        string   `json:"creator_id"`
	ParticipantIDs   []string `json:"participant_ids"`
	PendingInvites   []string `json:"pending_invites"`
	GroupID          *string  `json:"group_id"`
	Timezone         *string
	AllowLinkSharing bool `json:"allow_link_sharing"`
	Sync             struct {
		State       string
		Fingerprint string
		Cancelled   *struct{ Reason string }
	}
	WinningSlot        *slotJSON `json:"winning_slot"`
	OriginalSlot       *slotJSON `json:"original_slot"`
	ParticipantsHidden bool      `json:"participants_hidden"`
	Slots              []slotJSON
	Votes              []struct {
		UserID      string `json:"user_id"`
		Votes       map[string]string
		NoTimesWork bool `json:"no_times_work"`
	}
	GoogleEventID *string   `json:"google_event_id"`
	CreatedAt     time.Time `json:"created_at"`
}

type slotJSON struct {
	ID                  string
	Start, End          string
	AllDay              bool `json:"all_day"`
	Source              string
	Feasible, Preferred int
}

// slots are times for a new poll.
func slots(starts ...string) []map[string]string {
	var all []map[string]string
	for _, start := range starts {
		at, err := time.Parse(time.RFC3339, start)
		if err != nil {
			panic(err)
		}
		all = append(all, map[string]string{"start": start, "end": at.Add(2 * time.Hour).Format(time.RFC3339)})
	}
	return all
}

// newPoll makes a poll of gm's in which ana takes part by choice, with two slots.
func (w *world) newPoll(more map[string]any) pollJSON {
	w.t.Helper()
	body := map[string]any{
		"title": "Session 12", "participant_ids": []string{"ana"}, "pending_invites": []string{"ben@example.com"},
		"slots": slots("2026-03-01T18:00:00Z", "2026-03-02T19:00:00+01:00"),
	}
	maps.Copy(body, more)
	var made pollJSON
	w.want(http.StatusCreated, call{as: "gm", method: "POST", path: "/v1/polls", body: body}, &made)
	w.elsewhere(func(tx store.Tx) error {
		joined := []any{}
		for _, id := range made.ParticipantIDs {
			joined = append(joined, id)
		}
		return tx.Update(poll.Path(made.ID), poll.Set("joinedIds", joined))
	})
	return made
}

// document reads the OpenAPI document.
func (w *world) document() openAPI {
	w.t.Helper()
	got := w.send(call{method: "GET", path: "/openapi.json"})
	var document openAPI
	must(w.t, json.Unmarshal([]byte(got.text), &document))
	return document
}

// openAPI is as much of the document as the tests need.
type openAPI struct {
	OpenAPI    string
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]operationJSON
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct{ Type json.RawMessage }
			Required   []string
		}
	}
}

type operationJSON struct {
	OperationID string
	Tags        []string
	Parameters  []struct {
		Name, In string
		Required bool
	}
	RequestBody *struct {
		Required bool
		Content  map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
	Security []map[string][]string
	Audience []string `json:"x-audience"`
}

// each calls visit for every operation, with its method in capitals.
func (d openAPI) each(visit func(method, path string, op operationJSON)) {
	for path, methods := range d.Paths {
		for method, op := range methods {
			visit(strings.ToUpper(method), path, op)
		}
	}
}
