package discord_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"questscheduler/demo/sim/discord"
)

func TestList_Pages(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := make([]string, 120) // ids[n] is the id of message n, oldest first
	for n := range ids {
		ids[n] = s.post(map[string]any{"content": fmt.Sprint(n)}).ID
	}
	if a := s.call(http.MethodDelete, messages+"/"+ids[50], nil); a.status != http.StatusNoContent {
		t.Fatalf("delete: %d %s", a.status, a.body)
	}
	for _, row := range []struct {
		name, query string
		want        []int
	}{
		{"without a limit: 50, newest first", "", down(119, 70)},
		{"the newest three", "?limit=3", down(119, 117)},
		{"at most a hundred", "?limit=100", slices.DeleteFunc(down(119, 19), func(n int) bool { return n == 50 })},
		{"before an id", "?limit=3&before=" + ids[10], down(9, 7)},
		{"before the oldest", "?before=" + ids[0], nil},
		{"before a deleted one", "?limit=2&before=" + ids[50], down(49, 48)},
		{"after an id: the next ones, newest first", "?limit=3&after=" + ids[10], down(13, 11)},
		{"after a deleted one", "?limit=2&after=" + ids[50], down(52, 51)},
		{"after the newest", "?after=" + ids[119], nil},
		{"around an id", "?limit=5&around=" + ids[10], down(12, 8)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var list []discord.Message
			s.call(http.MethodGet, messages+row.query, nil).into(t, &list)
			var got []int
			for _, m := range list {
				got = append(got, slices.Index(ids, m.ID))
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "before=x", "before=" + ids[9] + "&after=" + ids[3]} {
		t.Run("refused: "+query, func(t *testing.T) {
			t.Parallel()
			wantRefusal(t, s.call(http.MethodGet, messages+"?"+query, nil), http.StatusBadRequest, 50035, "Invalid Form Body")
		})
	}
}

func down(from, to int) []int {
	var list []int
	for n := from; n >= to; n-- {
		list = append(list, n)
	}
	return list
}
