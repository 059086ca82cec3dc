package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/ids"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/test/emulator"
	"questscheduler/rules"
)

// The existing deployment that `backfill` brings in: polls of many users, in a project
// of the emulator, as the web app left them, and the users' calendars with the events
// of the finalised polls.

// How many polls each user created, and so about how many events a calendar holds, in a
// usual deployment and in a small one.
const (
	pollsOfAPerson     = 50
	pollsOfAPersonHere = 20
)

// sort is a kind of existing poll.
type sort struct {
	name   string
	status string
	// names: the poll names an event. gone: the calendar no longer has it. same: it is
	// the event of the poll before.
	names, gone, same bool
	// calendar is the poll's calendar: "" (none), "primary", or "own", which is the
	// calendar's id.
	calendar string
	// past: the session ended long ago.
	past bool
	// unlinked: its creator has linked no account.
	unlinked bool
	// group: it belongs to a group, which has a channel on Discord.
	group bool
	// followed: the backfill follows its event. problem: a line says why it does not.
	// With neither there is nothing to follow.
	followed, problem bool
}

// sorts are the kinds of existing polls, repeated in this order. The backfill follows
// most of them.
var sorts = []sort{
	{name: "in the primary calendar", status: "FINALIZED", names: true, calendar: "primary", followed: true},
	{name: "without a calendar", status: "FINALIZED", names: true, followed: true},
	{name: "in a calendar by its id", status: "FINALIZED", names: true, calendar: "own", followed: true},
	{name: "of a group", status: "FINALIZED", names: true, calendar: "primary", group: true, followed: true},
	{name: "whose event is gone", status: "FINALIZED", names: true, gone: true, calendar: "primary", followed: true},
	{name: "open", status: "OPEN"},
	{name: "in the primary calendar again", status: "FINALIZED", names: true, calendar: "primary", followed: true},
	{name: "cancelled, with its event", status: "CANCELLED", names: true, calendar: "primary"},
	{name: "reopened, with its event", status: "OPEN", names: true, calendar: "primary"},
	{name: "in a calendar by its id again", status: "FINALIZED", names: true, calendar: "own", followed: true},
	{name: "with the same event", status: "FINALIZED", names: true, same: true, calendar: "own", problem: true},
	{name: "without an event", status: "FINALIZED"},
	{name: "of nobody who has linked", status: "FINALIZED", names: true, calendar: "primary", unlinked: true, problem: true},
	{name: "over for long", status: "FINALIZED", names: true, calendar: "primary", past: true},
	{name: "archived", status: "ARCHIVED", names: true, calendar: "primary"},
	{name: "of a group again", status: "FINALIZED", names: true, calendar: "own", group: true, followed: true},
}

// former is an existing poll.
type former struct {
	sort
	id, creator, event string
}

// deployment is a deployment from before this backend.
type deployment struct {
	t       *testing.T
	google  *google.Server
	raw     *raw
	polls   []former
	each    int               // how many each person made
	tokens  map[string]string // of the people's browsers, by person
	environ []string
	dir     string
	locks   *locks // nil: what a killed process holds stays for a minute
	// watching gets a line for each watch request to Google, while a test reads it.
	watching chan string
}

// newDeployment creates one with that many polls. In a small one, the locks of a killed
// process are released at once.
func newDeployment(t *testing.T, polls int, small bool) *deployment {
	t.Helper()
	host, project := emulator.Project(t)
	simulator, err := google.New(google.Options{Clock: control.NewClock(nil)})
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{
		t: t, google: simulator, raw: &raw{t, host, project}, each: pollsOfAPerson, tokens: map[string]string{},
		dir: t.TempDir(), watching: make(chan string),
	}
	served := httptest.NewServer(http.HandlerFunc(d.serveGoogle))
	t.Cleanup(served.Close)
	endpoint, address := host, freeAddress(t)
	if small {
		d.each = pollsOfAPersonHere
		d.locks, endpoint = newLocks(t, host, project)
	}
	d.environ = settings(d.dir, "QS_STORE=firestore", "QS_FIRESTORE_ENDPOINT="+endpoint, "QS_FIRESTORE_PROJECT="+project,
		"QS_SQLITE_PATH="+filepath.Join(d.dir, demo.StoreFile), "QS_SYNC=on", "QS_ADDR="+address, "QS_PUBLIC_URL=http://"+address,
		"QS_GOOGLE_ENDPOINT="+served.URL, "QS_LOG_LEVEL=info")
	d.link(host, project, (polls+d.each-1)/d.each)
	for n := range polls {
		d.polls = append(d.polls, d.former(n))
	}
	d.write()
	return d
}

// serveGoogle serves the Google simulator to the program.
func (d *deployment) serveGoogle(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/events/watch") {
		select {
		case d.watching <- "events.watch":
		default:
		}
	}
	d.google.Handler().ServeHTTP(w, r)
}

// person is the n-th user who created polls.
func person(n int) string { return fmt.Sprintf("gm%04d", n) }

// link links the users' accounts.
func (d *deployment) link(host, project string, people int) {
	d.t.Helper()
	documents, err := firestore.Open(d.t.Context(), firestore.Options{Project: project, Emulator: host, Queries: queries()})
	if err != nil {
		d.t.Fatal(err)
	}
	defer documents.Close() //nolint:errcheck // nothing is under way
	keys, err := seal.ParseKeys("k1:" + base64.StdEncoding.EncodeToString([]byte(secretKey)))
	if err != nil {
		d.t.Fatal(err)
	}
	repository := accounts.New(accounts.Options{
		Store: documents, Keys: keys, Now: time.Now, NewID: func() string { return ids.ULID(time.Now()) },
	})
	for n := range people {
		who := person(n)
		grant, err := d.google.AddUser(google.User{Key: who, Sub: "sub-" + who, Email: who + "@example.com"})
		if err != nil {
			d.t.Fatal(err)
		}
		d.tokens[who] = grant.AccessToken
		identity := accounts.Identity{Provider: accounts.Google, Sub: "sub-" + who, Email: who + "@example.com"}
		if _, err := repository.Link(d.t.Context(), who, identity, grant.RefreshToken, grant.Scopes); err != nil {
			d.t.Fatal(err)
		}
	}
}

// former is the n-th existing poll; its event is created in its creator's calendar. IDs
// are in no order, so related documents are far apart.
func (d *deployment) former(n int) former {
	d.t.Helper()
	sum := sha256.Sum256(fmt.Append(nil, n))
	p := former{
		sort: sorts[n%len(sorts)], creator: person(n / d.each),
		id: fmt.Sprintf("%x-%x-4000-8000-%012d", sum[:4], sum[4:6], n),
	}
	if p.same && n%d.each == 0 { // the one before is another person's
		p.sort = sorts[0]
	}
	if p.unlinked {
		p.creator = "nobody"
	}
	switch {
	case !p.names:
	case p.same:
		p.event = d.polls[n-1].event
	case p.gone || p.unlinked:
		p.event = fmt.Sprintf("gone%06d", n)
	default:
		p.event = d.insert(p.creator)
	}
	return p
}

// sessionStart is the start of every future session; past is the start of one that
// is no longer synced.
var (
	sessionStart = time.Now().UTC().Add(7 * 24 * time.Hour).Truncate(time.Hour)
	past         = sessionStart.Add(-2 * rules.ForgetAfter)
)

// insert creates an event with an ID of Google's and returns the ID.
func (d *deployment) insert(person string) string {
	d.t.Helper()
	body, err := json.Marshal(map[string]any{
		"summary": "Of before", "start": map[string]any{"dateTime": sessionStart}, "end": map[string]any{"dateTime": sessionStart.Add(time.Hour)},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "/calendar/v3/calendars/primary/events", bytes.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+d.tokens[person])
	answer := httptest.NewRecorder()
	d.google.Handler().ServeHTTP(answer, request)
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &made); err != nil || made.ID == "" {
		d.t.Fatalf("the event cannot be made: %d %s", answer.Code, answer.Body)
	}
	return made.ID
}

// write writes the polls' documents, and those of their slots and their group.
func (d *deployment) write() {
	d.t.Helper()
	const atOnce = 500
	batch := []any{d.update("questingGroups/guild", map[string]any{
		"name": text("Guild"), "creatorId": text("ana"), "memberIds": texts("ana", "ben"),
		"discord": fieldsOf(map[string]any{"guildId": text("1"), "channelId": text("2")}),
	})}
	for n, p := range d.polls {
		at := sessionStart
		if p.past {
			at = past
		}
		batch = append(batch, d.update("schedulers/"+p.id, p.fields(n)), d.update("schedulers/"+p.id+"/slots/slot", map[string]any{
			"start": text(at.Format(millis)), "end": text(at.Add(time.Hour).Format(millis)), "unknown": text("kept"),
		}))
		if len(batch) >= atOnce-1 || n == len(d.polls)-1 {
			d.raw.post(":commit", map[string]any{"writes": batch})
			batch = nil
		}
	}
}

// millis is the format of times in the web app's slots.
const millis = "2006-01-02T15:04:05.000Z"

func (d *deployment) update(document string, fields map[string]any) map[string]any {
	return map[string]any{"update": map[string]any{"name": d.raw.root() + "/" + document, "fields": fields}}
}

// fields are those of the poll's document. Some have types that this backend never
// writes.
func (p former) fields(n int) map[string]any {
	fields := map[string]any{
		"title": text("Of before, " + p.name), "creatorId": text(p.creator), "creatorEmail": text(p.creator + "@example.com"),
		"status":         text(p.status),
		"participantIds": texts("ana", "ben"), "pendingInvites": texts("cat@example.com"),
		"allowLinkSharing": map[string]any{"booleanValue": true},
		"winningSlotId":    null, "googleEventId": null, "timezone": null, "questingGroupId": null, "createdAt": moment(), "updatedAt": moment(),
		"finalizedAtMs":             map[string]any{"doubleValue": 1.5e12},
		"finalizedSlotPriorityAtMs": fieldsOf(map[string]any{"slot": map[string]any{"integerValue": "7"}}),
		"unknownBytes":              map[string]any{"bytesValue": "AAEC"},
		"unknownPlace":              map[string]any{"geoPointValue": map[string]any{"latitude": 1.5, "longitude": 2}},
		"unknownMap": fieldsOf(map[string]any{
			"with.dot": text("kept"), "list": texts(), "number": map[string]any{"integerValue": fmt.Sprint(n)},
		}),
	}
	if p.status == "FINALIZED" || p.status == "CANCELLED" {
		fields["winningSlotId"] = text("slot")
	}
	if p.names {
		fields["googleEventId"] = text(p.event)
	}
	switch p.calendar {
	case "primary":
		fields["googleCalendarId"] = text("primary")
	case "own":
		fields["googleCalendarId"] = text(p.creator + "@example.com")
	}
	if p.group {
		fields["questingGroupId"] = text("guild")
	}
	return fields
}

// texts is a value that is a list of texts, and fieldsOf one that is a map.
func texts(values ...string) map[string]any {
	items := []any{}
	for _, value := range values {
		items = append(items, text(value))
	}
	return map[string]any{"arrayValue": map[string]any{"values": items}}
}

func fieldsOf(fields map[string]any) map[string]any {
	return map[string]any{"mapValue": map[string]any{"fields": fields}}
}

// root is the prefix of the names of all documents of the project.
func (r *raw) root() string { return "projects/" + r.project + "/databases/(default)/documents" }

// post calls a method of the project's documents.
func (r *raw) post(method string, body any) {
	r.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+r.host+"/v1/"+r.root()+method,
		bytes.NewReader(content))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer owner")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	if said, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %d %s %v", method, response.StatusCode, said, err)
	}
}

// all returns every document of a collection by its path, as it is stored.
func (r *raw) all(collection string) map[string]map[string]any {
	r.t.Helper()
	found, from := map[string]map[string]any{}, ""
	for {
		_, answer := r.send(http.MethodGet, collection, "?pageSize=1000&pageToken="+url.QueryEscape(from), nil)
		for _, document := range list(answer["documents"]) {
			name, _ := document["name"].(string)
			fields, _ := document["fields"].(map[string]any)
			found[collection+"/"+path.Base(name)] = fields
		}
		from, _ = answer["nextPageToken"].(string)
		if from == "" {
			return found
		}
	}
}
