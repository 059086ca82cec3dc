package api_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
)

// A stranger's requests at once name ana no more often than one after the other, in new polls and
// by edits.
func TestNaming_ByManyAtOnce_IsThree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := call{as: "eve", method: "POST", path: "/v1/polls", body: map[string]any{
		"title": "Probe", "participant_ids": []string{"ana"}, "slots": slots("2026-03-01T18:30:00Z"),
	}}
	empty := call{as: "eve", method: "POST", path: "/v1/polls", body: map[string]any{"title": "Probe", "slots": slots("2026-03-01T18:30:00Z")}}
	var calls []call
	for range 8 {
		var made pollJSON
		w.want(http.StatusCreated, empty, &made)
		calls = append(calls, ask, call{
			as: "eve", method: "PATCH", path: "/v1/polls/" + made.ID, body: map[string]any{"participant_ids": []string{"ana"}},
		})
	}
	var asking sync.WaitGroup
	statuses := make([]int, len(calls))
	for i, one := range calls {
		asking.Go(func() { statuses[i] = w.send(one).status })
	}
	asking.Wait()
	refused := slices.DeleteFunc(slices.Clone(statuses), func(status int) bool { return status != http.StatusBadRequest })
	if len(refused) != len(calls)-3 {
		t.Errorf("the answers are %v", statuses)
	}
	got := w.want(http.StatusBadRequest, ask, nil)
	if fields := got.Error.Detail.Fields; len(fields) != 1 || fields[0].Field != "participant_ids" {
		t.Errorf("the refusal is %s", got.text)
	}
}
