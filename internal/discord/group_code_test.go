package discord_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/store"
)

func (l *links) issueForGroup(uid string) string {
	l.t.Helper()
	code, expires, err := l.IssueForGroup(l.t.Context(), discord.GroupCode{UID: uid, GroupID: "party"})
	if err != nil || !expires.Equal(l.now.Add(10*time.Minute)) {
		l.t.Fatalf("a code until %s: %v", expires, err)
	}
	return code
}

// use uses a code by an interaction of its own for the channel "tavern", and returns what it stood for.
func (l *links) use(user discord.User, code string) (got discord.GroupCode, err error) {
	l.t.Helper()
	return l.useFor("tavern", user, code)
}

func (l *links) useFor(channel string, user discord.User, code string) (got discord.GroupCode, err error) {
	l.t.Helper()
	l.issued++
	by := discord.GroupCodeUse{User: user, Interaction: strconv.Itoa(l.issued), Channel: channel}
	err = l.UseGroupCode(l.t.Context(), code, by, func(_ context.Context, _ store.Tx, of discord.GroupCode) error {
		got = of
		return nil
	})
	return got, err
}

// by77 is the use by the interaction 77.
var by77 = discord.GroupCodeUse{User: ana, Interaction: "77", Channel: "tavern"}

// The document is the web app's, and so is the count beside it.
func TestGroupCode_HasTheAppsForm(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code := l.issueForGroup("gm")
	if !regexp.MustCompile(`^[0-9A-F]{8}$`).MatchString(code) {
		t.Errorf("the code is %q", code)
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(code)))
	f := store.Fields(l.data("discordLinkCodes", hash))
	for name, want := range map[string]string{"type": "group-link", "uid": "gm", "groupId": "party", "codeHash": hash} {
		if f.String(name) != want {
			t.Errorf("%s is %q, want %q", name, f.String(name), want)
		}
	}
	if counted := store.Fields(l.data("discordLinkCodeRateLimits", "gm")); counted.Int("count") != 1 || !counted.Time("windowStart").Equal(l.now) {
		t.Errorf("counted is %v", counted)
	}
}

func TestGroupCode_WorksOnce_HoweverItIsTyped(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code := l.issueForGroup("gm")
	typed := " " + strings.ToLower(code[:4]) + "-" + code[4:] + " "
	if got, err := l.use(ana, typed); err != nil || got != (discord.GroupCode{UID: "gm", GroupID: "party"}) {
		t.Fatalf("it stands for %+v: %v", got, err)
	}
	_, err := l.useFor("cellar", ana, code)
	l.kind(err, fault.NotFound)
	_, err = l.use(discord.User{ID: "2200000000000000002"}, code)
	l.kind(err, fault.NotFound)
}

// The first answer was lost, maybe with that of the store, and the person presses again.
func TestGroupCode_UsedAgainByTheSameForTheSame_WorksUntilItExpires(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code := l.issueForGroup("gm")
	for range 7 { // more often than wrong ones are let through
		if got, err := l.use(ana, code); err != nil || got.GroupID != "party" {
			t.Fatalf("it stands for %+v: %v", got, err)
		}
	}
	l.now = l.now.Add(10 * time.Minute)
	_, err := l.use(ana, code)
	l.kind(err, fault.NotFound)
}

// The interaction that comes again is told so, and counts as no wrong code.
func TestGroupCode_UsedByARepeatedInteraction_IsDone(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code, works := l.issueForGroup("gm"), func(context.Context, store.Tx, discord.GroupCode) error { return nil }
	if err := l.UseGroupCode(t.Context(), code, by77, works); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		err := l.UseGroupCode(t.Context(), code, by77, works)
		if fault.CodeOf(err) != discord.CodeInteractionDone {
			t.Fatalf("the repeat is answered %v", err)
		}
	}
	if _, err := l.use(ana, l.issueForGroup("gm")); err != nil {
		t.Errorf("another code after the repeats: %v", err)
	}
}

func TestGroupCode_OfWorkThatFails_StaysGood(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	code, failed := l.issueForGroup("gm"), errors.New("another group has the channel")
	err := l.UseGroupCode(t.Context(), code, by77, func(context.Context, store.Tx, discord.GroupCode) error { return failed })
	if !errors.Is(err, failed) {
		t.Fatalf("got %v", err)
	}
	if _, err := l.use(ana, code); err != nil {
		t.Errorf("after the failure: %v", err)
	}
}

// Codes of people are none of groups, and the other way round.
func TestGroupCode_ThatIsNone_IsNotFound(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	expired := l.issueForGroup("gm")
	l.now = l.now.Add(10 * time.Minute)
	for name, code := range map[string]string{"expired": expired, "of a person": l.issue(ana), "invented": "DEADBEEF", "empty": ""} {
		if got, err := l.use(ana, code); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: it stands for %+v: %v", name, got, err)
		}
	}
	_, err := l.Look(t.Context(), "ana", l.issueForGroup("gm"))
	l.kind(err, fault.NotFound)
}

// Five wrong codes in ten minutes, by Discord user; then a right one has to wait too.
func TestGroupCode_WrongOnes_AreCounted(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	for range 5 {
		_, err := l.use(ana, "00000000")
		l.kind(err, fault.NotFound)
	}
	code := l.issueForGroup("gm")
	_, err := l.use(ana, code)
	l.kind(err, fault.RateLimited)
	if _, err := l.use(discord.User{ID: "2200000000000000002"}, code); err != nil {
		t.Errorf("by somebody else: %v", err)
	}
	l.now = l.now.Add(10 * time.Minute)
	if _, err := l.use(ana, l.issueForGroup("gm")); err != nil {
		t.Errorf("ten minutes later: %v", err)
	}
}

func TestGroupCode_FiveAnHour_ForEachPerson(t *testing.T) {
	t.Parallel()
	for _, uid := range []string{"gm", "with/slashes", ".."} { // a token may name anybody
		l := newLinks(t)
		for range 5 {
			l.issueForGroup(uid)
		}
		_, _, err := l.IssueForGroup(t.Context(), discord.GroupCode{UID: uid, GroupID: "party"})
		l.kind(err, fault.RateLimited)
		l.issueForGroup("ben")
		l.now = l.now.Add(time.Hour)
		l.issueForGroup(uid)
	}
}
