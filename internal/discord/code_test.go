package discord_test

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

var ana = discord.User{ID: "2200000000000000001", Username: "Ana", GlobalName: "Ana the Brave", AvatarHash: "a1"}

// links are over an empty store, with a clock that the test moves.
type links struct {
	discord.Links
	t   *testing.T
	now time.Time
	// issued counts the interactions that asked for codes.
	issued int
}

func newLinks(t *testing.T) *links {
	t.Helper()
	documents, err := memorystore.Open(discord.Queries)
	if err != nil {
		t.Fatal(err)
	}
	l := &links{t: t, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	l.Links = discord.Links{Store: storetest.Rerun(documents), Now: func() time.Time { return l.now }, Moves: true}
	return l
}

func (l *links) issue(user discord.User) string {
	l.t.Helper()
	l.issued++
	code, expires, err := l.Issue(l.t.Context(), user, strconv.Itoa(l.issued))
	if err != nil || !expires.Equal(l.now.Add(10*time.Minute)) {
		l.t.Fatalf("a code until %s: %v", expires, err)
	}
	return code
}

func (l *links) data(parts ...string) map[string]any {
	l.t.Helper()
	doc, err := l.Store.Get(l.t.Context(), store.Doc(parts...))
	if err != nil {
		l.t.Fatal(err)
	}
	return doc.Data
}

func (l *links) kind(err error, want fault.Kind) {
	l.t.Helper()
	if err == nil || fault.KindOf(err) != want {
		l.t.Errorf("%v, want %s", err, want)
	}
}

func TestLink_ByACode_WritesWhatTheAppWrites(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code := l.issue(ana)
	user, err := l.Look(t.Context(), "uid-ana", code)
	if err != nil || user != ana {
		t.Fatalf("it is the code of %+v: %v", user, err)
	}
	if l.data("discordUserLinks", ana.ID) != nil {
		t.Fatal("looking linked")
	}
	typed := " " + strings.ToLower(strings.ReplaceAll(code, "-", " "))
	if _, err := l.Link(t.Context(), "uid-ana", typed); err != nil {
		t.Fatal(err)
	}
	if got, want := l.data("discordUserLinks", ana.ID), (map[string]any{"qsUserId": "uid-ana", "linkedAt": l.now}); !reflect.DeepEqual(got, want) {
		t.Errorf("the link is %v, want %v", got, want)
	}
	if got, want := l.data("users", "uid-ana")["discord"], (map[string]any{
		"userId": ana.ID, "username": "Ana", "globalName": "Ana the Brave", "avatarHash": "a1", "linkedAt": l.now, "linkSource": "code",
	}); !reflect.DeepEqual(got, want) {
		t.Errorf("the profile is %v, want %v", got, want)
	}
	if got, want := l.data("usersPublic", "uid-ana"), (map[string]any{"discordUsername": "Ana", "discordUsernameLower": "ana"}); !reflect.DeepEqual(got, want) {
		t.Errorf("what everybody sees is %v, want %v", got, want)
	}
	person, err := discord.PersonOf(t.Context(), l.Store, ana.ID)
	if err != nil || person.UID != "uid-ana" {
		t.Errorf("%+v is linked: %v", person, err)
	}
	// Repeated, as after a lost answer, it is the same link; nobody else can use the code.
	if again, err := l.Link(t.Context(), "uid-ana", code); err != nil || again.User.ID != ana.ID {
		t.Errorf("repeated: %+v, %v", again, err)
	}
	_, err = l.Link(t.Context(), "uid-ben", code)
	l.kind(err, fault.NotFound)
}

// A profile that names somebody else's user, and an older link that was left behind, are no links.
func TestLink_TouchesNobodyElses(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	victim := discord.User{ID: "2200000000000000003", Username: "victim"}
	if _, err := l.Link(t.Context(), "uid-victim", l.issue(victim)); err != nil {
		t.Fatal(err)
	}
	l.write("users", "uid-mallory", store.Set("discord", map[string]any{"userId": victim.ID}))
	l.write("discordUserLinks", ana.ID, store.Set("qsUserId", "uid-victim")) // an older one of the victim's
	if _, err := l.Link(t.Context(), "uid-mallory", l.issue(ana)); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlink(t.Context(), "uid-mallory"); err != nil {
		t.Fatal(err)
	}
	if person, err := discord.PersonOf(t.Context(), l.Store, victim.ID); err != nil || person.UID != "uid-victim" {
		t.Errorf("the victim's user is linked to %+v: %v", person, err)
	}
	l.write("discordUserLinks", ana.ID, store.Set("qsUserId", "uid-victim"))
	if person, err := discord.PersonOf(t.Context(), l.Store, ana.ID); err == nil {
		t.Errorf("an older link still makes %+v", person)
	}
}

func (l *links) write(collection, id string, updates ...store.Update) {
	l.t.Helper()
	err := l.Store.Run(l.t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Merge(store.Doc(collection, id), updates...) })
	if err != nil {
		l.t.Fatal(err)
	}
}

// An interaction that comes again gets no second code.
func TestIssue_ForAnInteractionThatComesAgain_IsAConflict(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	l.issue(ana)
	_, _, err := l.Issue(t.Context(), ana, "1")
	l.kind(err, fault.Conflict)
}

func TestCode_ThatIsWrongOrOld_IsNotFound(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code := l.issue(ana)
	_, err := l.Link(t.Context(), "uid-ana", "AAAA-AAAA-AAAAA")
	l.kind(err, fault.NotFound)
	l.now = l.now.Add(10 * time.Minute)
	_, err = l.Link(t.Context(), "uid-ana", code)
	l.kind(err, fault.NotFound)
}

// A code of a group, which the web app's functions make, links no person.
func TestCode_OfAGroup_LinksNobody(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code := l.issue(ana)
	err := l.Store.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
		found, err := tx.Query(ctx, discord.Queries[1].With(l.now.Add(time.Hour)).First(1))
		if err != nil {
			return err
		}
		return tx.Update(found[0].Path, store.Set("type", "group-link"))
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Link(t.Context(), "uid-ana", code)
	l.kind(err, fault.NotFound)
}

func TestCodes_AreFewAnHour(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	for range 5 {
		l.issue(ana)
	}
	_, _, err := l.Issue(t.Context(), ana, "one more")
	l.kind(err, fault.RateLimited)
	l.issue(discord.User{ID: "2200000000000000002"}) // nobody else's matter
	l.now = l.now.Add(time.Hour)
	l.issue(ana)
}

func TestWrongCodes_AreFew_EvenWithTheRightOneAfter(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code := l.issue(ana)
	for range 5 {
		_, err := l.Look(t.Context(), "guesser", "wrong")
		l.kind(err, fault.NotFound)
	}
	_, err := l.Look(t.Context(), "guesser", code)
	l.kind(err, fault.RateLimited)
	if _, err := l.Look(t.Context(), "uid-ana", code); err != nil {
		t.Errorf("somebody else waits for the guesser: %v", err)
	}
	l.now = l.now.Add(10 * time.Minute)
	_, err = l.Look(t.Context(), "guesser", "wrong")
	l.kind(err, fault.NotFound)
}

// One Discord user and one person: older links of either go.
func TestLink_Anew_EndsOlderLinks(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	second := discord.User{ID: "2200000000000000002", Username: "ana2"}
	for _, step := range []struct {
		uid  string
		user discord.User
	}{{"uid-ana", ana}, {"uid-ana", second}, {"uid-ben", second}} {
		if _, err := l.Link(t.Context(), step.uid, l.issue(step.user)); err != nil {
			t.Fatal(err)
		}
	}
	if left := l.data("discordUserLinks", ana.ID); left != nil {
		t.Errorf("the person's older link is left: %v", left)
	}
	if left := l.data("users", "uid-ana")["discord"]; left != nil {
		t.Errorf("the user's former person still shows %v", left)
	}
	if left := l.data("usersPublic", "uid-ana")["discordUsername"]; left != nil {
		t.Errorf("everybody still sees %v", left)
	}
	if person, err := discord.PersonOf(t.Context(), l.Store, second.ID); err != nil || person.UID != "uid-ben" {
		t.Errorf("%+v is linked: %v", person, err)
	}
}

// Where people sign in with Discord, a link may be somebody's sign-in.
func TestLink_OfSomebodyElsesUser_IsAConflict_WhereLinksDoNotMove(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	if _, err := l.Link(t.Context(), "uid-ana", l.issue(ana)); err != nil {
		t.Fatal(err)
	}
	l.Moves = false
	code := l.issue(ana)
	_, err := l.Link(t.Context(), "uid-ben", code)
	l.kind(err, fault.Conflict)
	if person, err := discord.PersonOf(t.Context(), l.Store, ana.ID); err != nil || person.UID != "uid-ana" {
		t.Errorf("%+v is linked: %v", person, err)
	}
}

func TestUnlink_Twice_LeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	if _, err := l.Link(t.Context(), "uid-ana", l.issue(ana)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Unlink(t.Context(), "uid-ana"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := discord.PersonOf(t.Context(), l.Store, ana.ID)
	if fault.CodeOf(err) != discord.CodeNotLinked {
		t.Errorf("still linked: %v", err)
	}
	if state, err := discord.StateOf(t.Context(), l.Store, "uid-ana"); err != nil || state.User.ID != "" {
		t.Errorf("the person shows %+v: %v", state, err)
	}
}

func TestRemoveExpired_TakesNothingElse(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	l.issue(ana)
	record := func(id string) {
		t.Helper()
		err := l.Store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Create(discord.InteractionPath(id), discord.EncodeInteraction(l.now))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	record("a")
	l.now = l.now.Add(59 * time.Minute)
	record("b")
	for _, row := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {2 * time.Minute, 2}, {0, 0}, {time.Hour, 1}} { // the code, with its own interaction's record
		l.now = l.now.Add(row.after)
		removed, _, err := discord.RemoveExpired(t.Context(), l.Store, l.now, 10)
		if err != nil || removed != row.want {
			t.Errorf("removed %d, want %d: %v", removed, row.want, err)
		}
	}
}
