package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"questscheduler/internal/bodylimit"
)

// role is what a caller can be to the subject of a route.
type role string

// The roles; a stranger is signed in and has nothing to do with the subject.
const (
	anonymous   role = "anonymous"
	stranger    role = "stranger"
	invitee     role = "invitee"
	participant role = "participant"
	member      role = "group member"
	creator     role = "creator"
	admin       role = "admin"
	machine     role = "machine"
)

// audience lists the roles that may call a route. Package scheduler decides; the
// audience documents it and says whether a token is demanded at all.
type audience []role

var (
	everybody    = audience{anonymous, stranger, invitee, participant, member, creator, admin, machine}
	persons      = audience{stranger, invitee, participant, member, creator, admin}
	pollReaders  = audience{invitee, participant, member, creator, admin} // strangers too, with link sharing
	pollVoters   = audience{participant, member, creator}
	pollCreator  = audience{creator, admin}
	pollJoiners  = audience{invitee, participant, member, creator} // strangers too, with link sharing
	pollLeavers  = audience{participant}                           // group members leave the group
	invitees     = audience{invitee}
	groupReaders = audience{invitee, member, creator, admin}
	groupJoiners = audience{invitee, member, creator}
	groupLeavers = audience{member}
	groupMembers = audience{member, creator}
	groupCreator = audience{creator, admin}
	// groupManagers: members too, where the group is memberManaged.
	groupManagers = audience{creator}
	// groupEventAuthors: the event's author too.
	groupEventAuthors = audience{creator}
	calendarOwner     = audience{creator, admin} // of the account that links it
	accountOwner      = audience{creator}
	mirroringOwner    = audience{creator} // of the policy or the event
	admins            = audience{admin}
	operators         = audience{admin, machine} // machines that act as admins
)

func (a audience) has(r role) bool { return slices.Contains(a, r) }

// isAdmins reports whether only those who run the server may call.
func (a audience) isAdmins() bool { return slices.Equal(a, admins) || slices.Equal(a, operators) }

// trait is a property of some routes.
type trait int

const (
	created     trait = iota // it answers 201
	vouched                  // it demands a sign-in that proves who the person is (signin.Person.VouchedFor)
	keyed                    // it takes an Idempotency-Key; its handler calls once
	counted                  // it counts as a command on the poll at its path
	ifMatch                  // it takes the header of that name
	ifNoneMatch              // it takes the header of that name
)

// sections are the tags of the routes: their names and what they are about.
var sections = []*huma.Tag{
	{Name: "polls", Description: "Polls from creation to session: votes, finalisation, and changes in the calendar since."},
	{Name: "groups", Description: "People who play together."},
	{Name: "accounts", Description: "The caller's Google accounts: linking, choosing a calendar, unlinking."},
	{Name: "calendars", Description: "Linked calendars with changes that await a person's confirmation."},
	{Name: "events", Description: "The events of the caller's calendars that mirroring follows, and their mirrors."},
	{Name: "policies", Description: "Which of the caller's calendars know about which."},
	{Name: "sync", Description: "The sync between the caller's calendars and polls, and its decisions."},
	{Name: "availability", Description: "When the caller and the people of their polls are free or busy."},
	{Name: "feed", Description: "The caller's sessions as a feed that calendar programs subscribe to."},
	{Name: "me", Description: "The caller's Discord user."},
	{Name: "notifications", Description: "The caller's notifications in the app."},
	{Name: "operation", Description: "For operators of the server."},
	{
		Name: "admin",
		Description: "For the admins of QS_ADMIN_USERS and, on routes that say so, the machines of QS_MACHINE_ACCOUNTS; for " +
			"everybody else these routes do not exist.",
	},
}

func sectionOf(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	name, _, _ := strings.Cut(rest, "/")
	switch {
	case path == pathStream:
		return "polls"
	case first == "v1":
		return name
	case first == "admin":
		return "admin"
	default:
		return "operation"
	}
}

// bearer is the name of the security scheme.
const bearer = "bearer"

// newHuma makes the API that routes are registered with. Huma's own pages are not
// used: they load scripts from other hosts.
func (s *server) newHuma() huma.API {
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "questscheduler", Version: s.Version,
				Description: "Polls that become calendar events and follow them. Every answer is an envelope: ok, data or error, meta.",
				License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Servers: []*huma.Server{{URL: "/", Description: "Where this document was served."}},
			Tags:    sections,
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					bearer: {Type: "http", Scheme: "bearer", Description: "The token of a person."},
				},
			},
		},
		Formats:                      map[string]huma.Format{"application/json": huma.DefaultJSONFormat},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{s.complete},
	}
	return humaecho.New(s.echo, config)
}

// complete finishes the errors that huma writes.
func (s *server) complete(ctx huma.Context, _ string, body any) (any, error) {
	if failed, ok := body.(*failure); ok {
		s.completeFailure(ctx.Context(), failed, ctx.SetHeader)
	}
	return body, nil
}

// answerTimeout is how long a request may be worked on once its body is read:
// longer than a command under an Idempotency-Key.
const answerTimeout = commandTimeout + 5*time.Second

// AnswerTime is the longest time from a request's sign-in until its answer is
// written: the body, the work, and storing the answer to an Idempotency-Key. The
// server must allow answers more than that (http.Server.WriteTimeout), so that
// there is one however many transactions are retried.
const AnswerTime = bodylimit.Timeout + answerTimeout + settleTimeout

// handler answers a caller's request: In is its parameters and body, Data the data
// of the envelope.
type handler[In, Data any] func(ctx context.Context, by caller, in *In) (Data, error)

// route adds a route. Its pattern is a method and a path.
func route[In, Data any](s *server, pattern, id string, who audience, summary string, handle handler[In, Data], traits ...trait) {
	type answer struct {
		Body *envelope[Data]
	}
	huma.Register(s.huma, s.describe(pattern, id, who, summary, traits), func(ctx context.Context, in *In) (*answer, error) {
		data, err := serve(ctx, s, handle, in, traits)
		if err != nil {
			return nil, err
		}
		return &answer{Body: enclose(ctx, s, data)}, nil
	})
}

// serve calls a handler within answerTimeout; an error is a *failure.
func serve[In, Data any](ctx context.Context, s *server, handle handler[In, Data], in *In, traits []trait) (data Data, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	by := callerOf(ctx)
	if slices.Contains(traits, counted) {
		if _, err := s.Commands.Count(by.person.ID, requestOf(ctx).echo.Param("id")); err != nil {
			return data, asFailure(err)
		}
	}
	data, err = handle(ctx, by, in)
	if err != nil {
		return data, asFailure(err)
	}
	return data, nil
}

// describe makes huma's description of a route, with the steps that a request
// passes before its parameters are read.
func (s *server) describe(pattern, id string, who audience, summary string, traits []trait) huma.Operation {
	method, path, _ := strings.Cut(pattern, " ")
	roles := texts(who)
	described := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{sectionOf(path)},
		Description: "Who may: " + strings.Join(roles, ", ") + ".",
		Extensions:  map[string]any{"x-audience": roles},
		// checkBody reads the body within our limits; -1 sets none of huma's.
		MaxBodyBytes: -1, BodyReadTimeout: -1,
	}
	step := func(check func(huma.Context) (huma.Context, error)) {
		described.Middlewares = append(described.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
			checked, err := check(ctx)
			if err != nil {
				s.answerError(err, humaecho.Unwrap(ctx))
				return
			}
			next(checked)
		})
	}
	if who.isAdmins() {
		step(takeCookie)
	}
	if !who.has(anonymous) {
		described.Security = []map[string][]string{{bearer: {}}}
		step(s.authenticate(who))
	}
	if who.isAdmins() {
		step(demandAdmin)
	}
	if slices.Contains(traits, vouched) {
		described.Description += " Only with a verified e-mail address, or a sign-in by Google or by a custom token."
		step(demandVouched)
	}
	if strings.Contains(path, "{") {
		step(checkID(path))
	}
	if strings.Contains(path, "{ref}") {
		step(checkTitle)
	}
	for _, one := range traits {
		switch one {
		case created:
			described.DefaultStatus = http.StatusCreated
		case keyed:
			described.Parameters = append(described.Parameters, describeKey())
			step(takeKey)
		case ifMatch, ifNoneMatch:
			described.Parameters = append(described.Parameters, describeCondition(one))
			step(takeCondition(one))
		case vouched, counted:
		}
	}
	if method != http.MethodGet {
		step(checkBody)
	}
	return described
}
