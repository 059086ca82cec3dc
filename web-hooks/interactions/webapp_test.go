package interactions_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/emulator"
	"questscheduler/internal/test/webapp"
	"questscheduler/internal/test/worldtest"
)

// TestVote_OnDiscord_IsTheDocumentOfTheOfficialClient: by the same person and of the same choice,
// the web app writes the same fields, under the rules that it runs with. The app votes over a vote
// of Discord's, and a card shows a vote that the app wrote.
func TestVote_OnDiscord_IsTheDocumentOfTheOfficialClient(t *testing.T) {
	t.Parallel()
	if err := webapp.Find(); err != nil && os.Getenv("CI") == "" {
		t.Skip("skipped: ", err)
	}
	app := newAppStore(t)
	d := newDeskOver(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}}, nil)
	d.after(time.Minute)
	id, option := d.hashes()
	d.says(d.submit(id, []string{option}, nil, false))
	onDiscord := d.vote()

	path, slot := string(poll.VotePath(d.poll, "ana")), d.slots[0]
	votes := func(who, choice string) appStep {
		return appStep{who, "vote", map[string]any{"id": d.poll, "votes": map[string]any{slot: choice}}}
	}
	app.run(
		appStep{"gm", "create", map[string]any{"id": d.poll, "participants": []any{"gm", "ana"}}},
		appStep{"gm", "putSlot", map[string]any{
			"id": d.poll, "slot": slot, "start": "2026-03-10T10:00:00.000Z", "end": "2026-03-10T11:00:00.000Z",
		}},
		votes("ana", poll.Preferred),
	)
	isTheApps(t, onDiscord, app.fields(path))

	onDiscord["updatedAt"] = "2026-03-01T00:00:00Z" // as JSON has it
	app.run(
		appStep{"server", "writes", map[string]any{"path": path, "data": onDiscord}},
		votes("ana", poll.Feasible), votes("gm", poll.Preferred),
	)
	if over := app.fields(path); textsOf(over["votes"])[slot] != poll.Feasible {
		t.Errorf("over a vote of Discord the app leaves %v", over)
	}
	byGM := app.fields(string(poll.VotePath(d.poll, "gm")))
	d.world.Write(poll.VotePath(d.poll, "gm"), store.Set("voterId", "gm"), store.Set("votes", textsOf(byGM["votes"])),
		store.Set("noTimesWork", byGM["noTimesWork"]["booleanValue"]))
	if err := d.world.Scheduler.CheckCard(t.Context(), d.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	d.world.RunDue()
	if card := d.world.Discord.Messages(worldtest.Channel)[0].Embeds; !strings.Contains(string(card[0]), "4/4 voted") {
		t.Errorf("the card shows %s", card)
	}
}

// isTheApps compares a vote of Discord with the app's of the same choice: the same fields of the
// same kinds, and the two that say where it was given.
func isTheApps(t *testing.T, onDiscord map[string]any, byApp map[string]map[string]any) {
	t.Helper()
	if votes := textsOf(byApp["votes"]); !reflect.DeepEqual(votes, onDiscord["votes"]) {
		t.Errorf("the app chose %v, Discord %v", votes, onDiscord["votes"])
	}
	for _, name := range slices.Sorted(maps.Keys(onDiscord)) {
		value, kind := byApp[name], kindOf(onDiscord[name])
		_, null := value["nullValue"]
		_, same := value[kind]
		switch {
		case name == "source" || name == "lastVotedFrom":
			if value != nil || onDiscord[name] != "discord" {
				t.Errorf("%s is %v on Discord, %v in the app", name, onDiscord[name], value)
			}
		case !same && !null:
			t.Errorf("%s is a %s on Discord, %v in the app", name, kind, value)
		}
		delete(byApp, name)
	}
	if len(byApp) > 0 {
		t.Errorf("only the app writes %v", byApp)
	}
}

// appStep is something that the web app does, by the official client.
type appStep struct {
	Who  string         `json:"who"`
	Does string         `json:"does"`
	With map[string]any `json:"with"`
}

// appStore is a project of the Firestore emulator under the merged rules.
type appStore struct {
	t             *testing.T
	host, project string
}

func newAppStore(t *testing.T) *appStore {
	t.Helper()
	merge := exec.CommandContext(t.Context(), "go", "run", "./merge-rules", "-ours", "../firestore.rules", "merge-rules/testdata/app.rules")
	merge.Dir, merge.Stderr = filepath.Join(docs.Root(t), "tools"), os.Stderr
	rules, err := merge.Output()
	if err != nil {
		t.Fatal(err)
	}
	s := &appStore{t: t}
	s.host, s.project = emulator.Project(t)
	s.do(http.MethodPut, "/emulator/v1/projects/"+s.project+":securityRules", map[string]any{
		"rules": map[string]any{"files": []any{map[string]any{"name": "firestore.rules", "content": string(rules)}}},
	})
	return s
}

// run has people do steps, each of which has to be allowed.
func (s *appStore) run(steps ...appStep) {
	s.t.Helper()
	people := map[string]any{"server": map[string]any{"uid": "server", "token": "owner"}}
	for _, uid := range []string{"gm", "ana"} {
		people[uid] = map[string]any{"uid": uid, "email": uid + "@example.com", "token": s.token(uid)}
	}
	var codes []string
	webapp.Run(s.t, "rules.js", map[string]any{"project": s.project, "firestore": s.host, "people": people, "steps": steps}, &codes)
	for i, code := range codes {
		if code != "" {
			s.t.Fatalf("%s %s is refused: %s", steps[i].Who, steps[i].Does, code)
		}
	}
}

// token is what Firebase would have signed: the emulator takes it unsigned.
func (s *appStore) token(uid string) string {
	now := time.Now().Unix()
	claims, err := json.Marshal(map[string]any{
		"sub": uid, "user_id": uid, "aud": s.project, "iss": "https://securetoken.google.com/" + s.project, "iat": now, "exp": now + 3600,
		"email": uid + "@example.com", "email_verified": true, "firebase": map[string]any{"sign_in_provider": "password"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode(claims) + "."
}

// fields are those of a document, each by the kind of its value.
func (s *appStore) fields(path string) map[string]map[string]any {
	s.t.Helper()
	var document struct{ Fields map[string]map[string]any }
	answer := s.do(http.MethodGet, "/v1/projects/"+s.project+"/databases/(default)/documents/"+path, nil)
	if err := json.Unmarshal(answer, &document); err != nil {
		s.t.Fatal(err)
	}
	return document.Fields
}

func (s *appStore) do(method, address string, body any) []byte {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.host+address, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer owner")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %d %s %v", method, address, response.StatusCode, answer, err)
	}
	return answer
}

// kindOf is Firestore's name of the kind of a value.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "stringValue"
	case bool:
		return "booleanValue"
	case time.Time:
		return "timestampValue"
	case map[string]any:
		return "mapValue"
	}
	return "nullValue"
}

// textsOf are the texts of a map.
func textsOf(value map[string]any) map[string]any {
	inner, _ := value["mapValue"].(map[string]any)
	fields, _ := inner["fields"].(map[string]any)
	texts := map[string]any{}
	for name, field := range fields {
		one, _ := field.(map[string]any)
		texts[name] = one["stringValue"]
	}
	return texts
}
