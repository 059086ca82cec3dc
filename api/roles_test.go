package api_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/signin"
	"questscheduler/internal/test/tokentest"
	"questscheduler/rules"
)

// The roles, in the order of the columns below: nobody known; eve, who has
// nothing to do with the poll; ben, who is invited; ana, who takes part; cho,
// who belongs to its group; gm, who made it and the group, and linked the
// calendar; an admin.
var roles = []struct{ name, as string }{
	{"anonymous", ""}, {"stranger", "eve"}, {"invitee", "ben"}, {"participant", "ana"}, {"group member", "cho"},
	{"creator", "gm"}, {"admin", "admin"},
}

// statuses are the answers by role.
type statuses [7]int

// fixture is a poll with its group, as a route finds them.
type fixture struct {
	*world
	poll  pollJSON
	group string
}

// path is a path below the poll's.
func (s fixture) path(rest string) string { return "/v1/polls/" + s.poll.ID + rest }

// roleRow has a call of a route and the status of its answer for each role. Each role
// calls the route on a new fixture.
type roleRow struct {
	// before changes the fixture; nil leaves the poll open.
	before func(s *fixture)
	call   func(s fixture) call
	want   statuses
}

func (s *fixture) finalised() { s.poll = s.finalise(s.poll) }

func (s *fixture) moved() {
	s.finalised()
	later := begin.AddDate(0, 2, 0)
	s.moveEvent(s.poll, rules.Timed(later, later.Add(time.Hour)))
	s.want(200, call{as: "gm", method: "GET", path: s.path("")}, &s.poll)
}

func (s *fixture) archived() {
	s.want(200, call{as: "gm", method: "POST", path: s.path("/archive")}, nil)
}

// on is a call of a route below the poll's.
func on(method, rest string, body any) func(s fixture) call {
	return func(s fixture) call { return call{method: method, path: s.path(rest), body: body} }
}

// onAccount is a call of a route below that of an account which gm has linked.
func onAccount(method, rest string) func(s fixture) call {
	return func(s fixture) call { return call{method: method, path: "/v1/accounts/" + s.newAccount("gm") + rest} }
}

// onGroup is a call of a route of the fixture's group.
func onGroup(method, rest string) func(s fixture) call {
	return func(s fixture) call { return call{method: method, path: "/v1/groups/" + s.group + rest} }
}

// inviteToGroup invites ben to the group too.
func (s *fixture) inviteToGroup() {
	s.patchGroup(s.group, map[string]any{"add_member_ids": []string{"ben"}})
}

// meets gives the group an event of gm's.
func (s *fixture) meets() { s.newGroupEvent("gm", s.group, movieNight) }

// Whole columns that come again.
var (
	forPersons  = statuses{401, 200, 200, 200, 200, 200, 200}
	forCreators = statuses{401, 404, 403, 403, 403, 200, 200}
	forOwners   = statuses{401, 404, 404, 404, 404, 200, 404} // gm's own things, which no admin uses
	forAdmins   = statuses{401, 404, 404, 404, 404, 404, 200}
	forMembers  = statuses{401, 404, 404, 404, 200, 200, 404} // of the group
)

// plain is a call without a body of a route that is about no poll.
func plain(method, path string) func(fixture) call {
	return func(fixture) call { return call{method: method, path: path} }
}

// roleTable holds every route that demands a token by its name in the OpenAPI document.
var roleTable = map[string]roleRow{
	"create-poll": {
		call: func(fixture) call { return call{method: "POST", path: "/v1/polls", body: session} },
		want: statuses{401, 201, 201, 201, 201, 201, 201},
	},
	"list-polls":  {call: func(fixture) call { return call{method: "GET", path: "/v1/polls"} }, want: forPersons},
	"get-poll":    {call: on("GET", "", nil), want: statuses{401, 404, 200, 200, 200, 200, 200}},
	"update-poll": {call: on("PATCH", "", map[string]any{"title": "New"}), want: forCreators},
	"delete-poll": {call: on("DELETE", "", nil), want: forCreators},
	"vote": {
		call: on("PUT", "/votes/me", map[string]any{"votes": map[string]string{}}),
		want: statuses{401, 404, 403, 200, 200, 200, 403},
	},
	"finalize-poll": {call: func(s fixture) call { c := finaliseCall(s.poll); c.as = ""; return c }, want: forCreators},
	"cancel-poll":   {call: on("POST", "/cancel", nil), want: forCreators},
	"reopen-poll": {
		before: (*fixture).finalised, call: on("POST", "/reopen", map[string]any{"delete_event": true}), want: forCreators,
	},
	"archive-poll":          {call: on("POST", "/archive", nil), want: forCreators},
	"unarchive-poll":        {before: (*fixture).archived, call: on("POST", "/unarchive", nil), want: forCreators},
	"restore-original-time": {before: (*fixture).moved, call: on("POST", "/restore-original-time", nil), want: forCreators},
	"accept-new-time": {before: (*fixture).moved, want: forCreators, call: func(s fixture) call {
		return call{method: "POST", path: s.path("/accept-new-time"), body: map[string]any{"fingerprint": s.poll.Sync.Fingerprint}}
	}},
	"sync-poll":      {call: on("POST", "/sync", nil), want: forCreators},
	"list-journal":   {call: on("GET", "/journal", nil), want: forCreators},
	"join-poll":      {call: on("POST", "/join", nil), want: statuses{401, 404, 200, 200, 200, 200, 403}},
	"leave-poll":     {call: on("POST", "/leave", nil), want: statuses{401, 404, 409, 200, 409, 409, 409}},
	"accept-invite":  {call: on("POST", "/accept-invite", nil), want: statuses{401, 404, 200, 200, 200, 200, 409}},
	"decline-invite": {call: on("POST", "/decline-invite", nil), want: statuses{401, 404, 200, 409, 409, 409, 409}},

	"confirm-cancellations": {before: (*fixture).finalised, want: statuses{401, 404, 404, 404, 404, 200, 200}, call: func(s fixture) call {
		return call{
			method: "POST", path: "/v1/calendars/" + s.newCalendar("gm") + "/confirm-cancellations",
			body: map[string]any{"poll_ids": []string{s.poll.ID}},
		}
	}},

	"list-accounts": {call: func(fixture) call { return call{method: "GET", path: "/v1/accounts"} }, want: forPersons},
	"link-account": {want: forPersons, call: func(fixture) call {
		return call{method: "POST", path: "/v1/accounts/link", body: map[string]any{}}
	}},
	"get-account":            {call: onAccount("GET", ""), want: forOwners},
	"list-account-calendars": {call: onAccount("GET", "/calendars"), want: forOwners},
	"unlink-account":         {call: onAccount("DELETE", ""), want: forOwners},
	"sync-status":            {call: func(fixture) call { return call{method: "GET", path: "/v1/sync/status"} }, want: forPersons},
	"sync-journal":           {call: func(fixture) call { return call{method: "GET", path: "/v1/sync/journal"} }, want: forPersons},
	"account-sync-status": {want: forOwners, call: func(s fixture) call {
		return call{method: "GET", path: "/v1/sync/status/" + s.newAccount("gm")}
	}},

	"own-availability":         {call: plain("GET", "/v1/availability?start=2026-03-01T00:00:00Z&end=2026-03-08T00:00:00Z"), want: forPersons},
	"poll-availability":        {call: on("GET", "/availability", nil), want: statuses{401, 404, 404, 200, 200, 200, 404}},
	"get-availability-sharing": {call: plain("GET", "/v1/availability/sharing"), want: forPersons},
	"set-availability-sharing": {want: forPersons, call: func(fixture) call {
		return call{method: "PUT", path: "/v1/availability/sharing", body: map[string]any{"share": true}}
	}},

	"create-group": {call: func(fixture) call {
		return call{method: "POST", path: "/v1/groups", body: map[string]any{"name": "Others"}}
	}, want: statuses{401, 201, 201, 201, 201, 201, 201}},
	"list-groups": {before: (*fixture).inviteToGroup, call: plain("GET", "/v1/groups"), want: forPersons},
	"get-group":   {before: (*fixture).inviteToGroup, call: onGroup("GET", ""), want: statuses{401, 404, 200, 404, 200, 200, 200}},
	"accept-group-invite": {
		before: (*fixture).inviteToGroup, call: onGroup("POST", "/accept-invite"),
		want: statuses{401, 404, 200, 404, 200, 200, 409},
	},
	"decline-group-invite": {
		before: (*fixture).inviteToGroup, call: onGroup("POST", "/decline-invite"),
		want: statuses{401, 404, 200, 404, 409, 409, 409},
	},
	"make-discord-link-code": {
		before: (*fixture).inviteToGroup, call: onGroup("POST", "/discord-link-code"), want: statuses{401, 404, 403, 404, 403, 201, 403},
	},
	"leave-group": {
		before: (*fixture).inviteToGroup, call: onGroup("POST", "/leave"), want: statuses{401, 404, 409, 404, 200, 409, 409},
	},
	"update-group": {before: (*fixture).inviteToGroup, want: statuses{401, 404, 403, 404, 403, 200, 200}, call: func(s fixture) call {
		return call{method: "PATCH", path: "/v1/groups/" + s.group, body: map[string]any{"name": "New"}}
	}},
	// An account and a connection are their owner's: gm's, in every role of the caller.
	"connect-group-account": {want: statuses{401, 404, 404, 404, 404, 201, 404}, call: func(s fixture) call {
		return call{method: "POST", path: "/v1/groups/" + s.group + "/connections", body: map[string]any{"account_id": s.newAccount("gm")}}
	}},
	"list-group-connections": {call: onGroup("GET", "/connections"), want: forMembers},
	"disconnect-group-account": {want: statuses{401, 404, 404, 404, 404, 200, 404}, call: func(s fixture) call {
		return call{method: "DELETE", path: "/v1/groups/" + s.group + "/connections/" + s.connect("gm", s.group)}
	}},
	"create-group-event": {want: statuses{401, 404, 404, 404, 201, 201, 404}, call: func(s fixture) call {
		return call{method: "POST", path: "/v1/groups/" + s.group + "/events", body: movieNight}
	}},
	"list-group-events": {call: onGroup("GET", "/events"), want: forMembers},
	"get-group-event":   {before: (*fixture).meets, call: onGroup("GET", "/events/latest"), want: forMembers},
	"delete-group-event": {
		before: (*fixture).meets, call: onGroup("DELETE", "/events/latest"), want: statuses{401, 404, 404, 404, 403, 200, 404},
	},
	"update-group-event": {before: (*fixture).meets, want: statuses{401, 404, 404, 404, 403, 200, 404}, call: func(s fixture) call {
		return call{method: "PATCH", path: "/v1/groups/" + s.group + "/events/latest", body: map[string]any{"title": "New"}}
	}},

	// An account, a policy and an event are their owner's: gm's, in every role of the caller.
	"list-policies": {call: plain("GET", "/v1/policies"), want: forPersons},
	"create-policy": {want: statuses{401, 201, 201, 201, 201, 201, 201}, call: func(fixture) call {
		return call{method: "POST", path: "/v1/policies", body: map[string]any{"name": "Evenings"}}
	}},
	"get-policy": {want: forOwners, call: func(s fixture) call {
		return call{method: "GET", path: "/v1/policies/" + s.newPolicy("gm")}
	}},
	"rename-policy": {want: forOwners, call: func(s fixture) call {
		return call{method: "PATCH", path: "/v1/policies/" + s.newPolicy("gm"), body: map[string]any{"name": "Mornings"}}
	}},
	"delete-policy": {want: forOwners, call: func(s fixture) call {
		return call{method: "DELETE", path: "/v1/policies/" + s.newPolicy("gm")}
	}},
	"set-policy-edges": {want: forOwners, call: func(s fixture) call {
		return call{method: "PUT", path: "/v1/policies/" + s.newPolicy("gm") + "/edges", body: map[string]any{"edges": []any{}}}
	}},
	"list-events": {call: plain("GET", "/v1/events?start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z"), want: forPersons},
	"create-event": {want: statuses{401, 404, 404, 404, 404, 201, 404}, call: func(s fixture) call {
		return call{method: "POST", path: "/v1/events", body: with(evening, "account_id", s.newAccount("gm"))}
	}},
	"get-event": {want: forOwners, call: func(s fixture) call {
		return call{method: "GET", path: "/v1/events/" + s.newEvent("gm")}
	}},
	"event-journal": {want: forOwners, call: func(s fixture) call {
		return call{method: "GET", path: "/v1/events/" + s.newEvent("gm") + "/journal"}
	}},
	"update-event": {want: forOwners, call: func(s fixture) call {
		return call{method: "PATCH", path: "/v1/events/" + s.newEvent("gm"), body: map[string]any{"title": "New"}}
	}},
	"delete-event": {want: forOwners, call: func(s fixture) call {
		return call{method: "DELETE", path: "/v1/events/" + s.newEvent("gm")}
	}},

	"create-feed": {call: plain("POST", "/v1/feed"), want: statuses{401, 201, 201, 201, 201, 201, 201}},
	"delete-feed": {call: plain("DELETE", "/v1/feed"), want: forPersons},

	"get-my-discord":    {call: plain("GET", "/v1/me/discord"), want: forPersons},
	"unlink-my-discord": {call: plain("DELETE", "/v1/me/discord"), want: forPersons},
	// Whose code it is; confirming links.
	"link-my-discord": {want: forPersons, call: func(s fixture) call {
		return call{method: "POST", path: "/v1/me/discord", body: map[string]any{"code": s.newDiscordCode()}}
	}},

	"list-notifications":     {call: func(fixture) call { return call{method: "GET", path: "/v1/notifications"} }, want: forPersons},
	"read-all-notifications": {call: func(fixture) call { return call{method: "POST", path: "/v1/notifications/read-all"} }, want: forPersons},
	// gm's alone, in every role of the caller.
	"read-notification": {want: statuses{401, 404, 404, 404, 404, 200, 404}, call: func(s fixture) call {
		return call{method: "POST", path: "/v1/notifications/" + s.newNotification("gm") + "/read"}
	}},
	"stream": {want: forPersons},

	"list-watches":            {call: plain("GET", "/admin/watches"), want: forAdmins},
	"channel-status":          {call: plain("GET", "/admin/channel-status"), want: forAdmins},
	"register-watches":        {call: plain("POST", "/admin/watches/force-register"), want: forAdmins},
	"force-register-channels": {call: plain("POST", "/admin/force-register-channels"), want: forAdmins},
	"inspect-poll": {before: (*fixture).finalised, want: forAdmins, call: func(s fixture) call {
		return call{method: "GET", path: "/admin/polls/" + s.poll.ID}
	}},
	"admin-sync-poll": {want: forAdmins, call: func(s fixture) call {
		return call{method: "POST", path: "/admin/polls/" + s.poll.ID + "/sync"}
	}},
	"reload-mappings": {call: plain("POST", "/admin/reload-mappings"), want: forAdmins},
	"retry-task": {want: forAdmins, call: func(s fixture) call {
		return call{method: "POST", path: "/admin/tasks/" + s.newFailingWork() + "/retry"}
	}},
	"resend-announcement": {want: forAdmins, call: func(s fixture) call {
		s.newAnnouncement(s.poll.ID)
		return call{method: "POST", path: "/admin/announcements/" + s.poll.ID + "/resend"}
	}},
}

func TestEveryRoute_ForEveryRole_HasItsStatus(t *testing.T) {
	t.Parallel()
	var named []string
	newWorld(t).document().each(func(method, path string, op operationJSON) {
		if len(op.Security) == 0 {
			return
		}
		named = append(named, op.OperationID)
		row, listed := roleTable[op.OperationID]
		if !listed {
			t.Errorf("%s %s has no row: say in roleTable whom it answers what", method, path)
			return
		}
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			issuer := tokentest.NewIssuer(t)
			w := newWorld(t, operatedBy(issuer))
			w.tokens["machine"] = issuer.Sign(tokentest.Machine(issuer.URL, machineAccount, machineAudience, w.options.Now()))
			w.wantOfMachine(row, op.Audience)
			for i, role := range roles {
				s := newFixture(w, row)
				try := s.prepare(row, role.as)
				before := s.store.writes.Load()
				if got := try(); got != row.want[i] {
					t.Errorf("by %s: status %d, want %d", role.name, got, row.want[i])
				}
				if row.want[i] >= http.StatusBadRequest && s.store.writes.Load() != before {
					t.Errorf("by %s: something was written", role.name)
				}
				// What the document says is no more and no less.
				said := slices.Contains(op.Audience, role.name)
				if may := row.want[i] < http.StatusBadRequest; said != may && !saidOtherwise[op.OperationID] {
					t.Errorf("by %s: its audience is %v", role.name, op.Audience)
				}
			}
		})
	})
	for name := range roleTable {
		if !slices.Contains(named, name) {
			t.Errorf("%s is a row of roleTable, and no route", name)
		}
	}
}

// The machine that operates in an admin's place, and whom its tokens are for.
const (
	machineAccount  = "clock@quest-party.iam.gserviceaccount.com"
	machineAudience = "https://api.party.example"
)

// operatedBy lets the machine operate by tokens of an issuer.
func operatedBy(issuer *tokentest.Issuer) func(*setup) {
	return func(s *setup) {
		s.Operators = signin.NewMachines(signin.MachineOptions{
			Keys: signin.NewIssuerKeys(issuer.URL, http.DefaultClient, s.Now), Issuers: []string{issuer.URL},
			Audiences: []string{machineAudience}, Accounts: []string{machineAccount}, Now: s.Now,
		})
	}
}

// wantOfMachine demands that a machine may what its route says, as an admin, and
// is nobody elsewhere.
func (w *world) wantOfMachine(row roleRow, audience []string) {
	w.t.Helper()
	want := http.StatusUnauthorized
	if slices.Contains(audience, "machine") {
		want = row.want[len(roles)-1]
	}
	if got := newFixture(w, row).prepare(row, "machine")(); got != want {
		w.t.Errorf("by machine: status %d, want %d", got, want)
	}
}

func TestMachines_MayRegisterChannelsAndReloadMappings(t *testing.T) {
	t.Parallel()
	theirs := []string{"register-watches", "force-register-channels", "reload-mappings"}
	newWorld(t).document().each(func(_, path string, op operationJSON) {
		if len(op.Security) > 0 && slices.Contains(op.Audience, "machine") != slices.Contains(theirs, op.OperationID) {
			t.Errorf("%s is for %v", path, op.Audience)
		}
	})
}

func TestMachines_WithoutAValidToken_AreRefused(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	w := newWorld(t, operatedBy(issuer))
	good := tokentest.Machine(issuer.URL, machineAccount, machineAudience, w.options.Now())
	tokens := issuer.Forged(good, w.options.Now())
	tokens["another account"] = issuer.Sign(good.With(tokentest.Claims{"email": "other@quest-party.iam.gserviceaccount.com"}))
	for name, token := range tokens {
		w.tokens["forged"] = token
		for _, path := range []string{"/admin/watches/force-register", "/admin/force-register-channels", "/admin/reload-mappings"} {
			if got := w.do(call{as: "forged", method: "POST", path: path}); got.status != http.StatusUnauthorized {
				t.Errorf("%s: %s answers %d", name, path, got.status)
			}
		}
	}
	issuer.SetDown(true)
	w = newWorld(t, operatedBy(issuer))
	w.tokens["machine"] = issuer.Sign(good)
	for as, status := range map[string]int{"admin": 200, "gm": 404, "machine": 503} {
		if got := w.do(call{as: as, method: "POST", path: "/admin/watches/force-register"}); got.status != status {
			t.Errorf("while nobody can tell who is a machine, %s is answered %d, want %d", as, got.status, status)
		}
	}
}

// saidOtherwise are routes about one person's own things, which every person
// has: whose they are is no role.
var saidOtherwise = map[string]bool{
	"read-notification": true, "connect-group-account": true, "create-event": true, "disconnect-group-account": true,
}

// newFixture makes a poll of gm's group, and prepares it for a row.
func newFixture(w *world, row roleRow) fixture {
	w.t.Helper()
	s := fixture{world: w}
	s.group = s.newGroupOf("cho")
	s.poll = s.newPoll(map[string]any{"group_id": s.group})
	if row.before != nil {
		row.before(&s)
	}
	return s
}

// prepare gives what makes the call of a row and gives the status of its
// answer.
func (s fixture) prepare(row roleRow, as string) (try func() int) {
	s.t.Helper()
	if row.call == nil { // the stream, whose answer does not end
		return func() int {
			l := s.open(as, s.url)
			defer l.close()
			return l.response.StatusCode
		}
	}
	c := row.call(s)
	c.as = as
	return func() int { return s.do(c).status }
}
