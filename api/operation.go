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

// role is what somebody can be to what a route is about.
type role string

// The roles, from nobody known to everybody's master. Stranger is anybody
// signed in who has nothing to do with it.
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

// audience is who may call a route. The packages below decide; this says it in
// the OpenAPI document, and whether a token is demanded at all.
type audience []role

var (
	everybody   = audience{anonymous, stranger, invitee, participant, member, creator, admin, machine}
	persons     = audience{stranger, invitee, participant, member, creator, admin}
	pollReaders = audience{invitee, participant, member, creator, admin} // a stranger too, with link sharing
	pollVoters  = audience{participant, member, creator}
	pollCreator = audience{creator, admin}
	// Who takes part already may join again: nothing changes. A stranger may
	// join too, with link sharing. Members leave by leaving the group.
	pollJoiners   = audience{invitee, participant, member, creator}
	pollLeavers   = audience{participant}
	invitees      = audience{invitee}
	groupReaders  = audience{invitee, member, creator, admin} // an invitee of the group
	groupJoiners  = audience{invitee, member, creator}
	groupLeavers  = audience{member}
	groupCreator  = audience{creator, admin}
	calendarOwner = audience{creator, admin} // whose account it is linked by
	accountOwner  = audience{creator}        // who linked it
	admins        = audience{admin}
	// operators are admins, and the machines that act in their place.
	operators = audience{admin, machine}
)

func (a audience) has(r role) bool { return slices.Contains(a, r) }

func (a audience) names() []string { return texts(a) }

// isAdmins tells whether none but those who run the server may.
func (a audience) isAdmins() bool { return slices.Equal(a, admins) || slices.Equal(a, operators) }

// operation is one route.
type operation struct {
	id      string // unique, such as create-poll
	method  string
	path    string
	summary string
	tag     string // what it is about
	// audience is who may call it.
	audience audience
	// vouched demands a sign-in that says who the person is (signin.Person.VouchedFor):
	// it is for what firestore.rules demand one for.
	vouched bool
	// names says what the id in the path names; nil where there is none.
	names *naming
	// status is that of success; 0: 200.
	status int
	// keyed tells that it takes an Idempotency-Key; its handler uses once.
	keyed bool
	// condition is the header of entity tags that it takes; "": none.
	condition string
}

// tags say what each tag of the routes is about.
var tags = []*huma.Tag{
	{Name: "polls", Description: "Polls, from their making to the session: votes, the finalising, and what the calendar did since."},
	{Name: "groups", Description: "People who play together."},
	{Name: "accounts", Description: "One's own Google accounts: linking, choosing a calendar, unlinking."},
	{Name: "calendars", Description: "Linked calendars, where a person's word is waited for."},
	{Name: "sync", Description: "How one's calendars and polls stand to each other, and what was decided."},
	{Name: "notifications", Description: "What one was told in the app."},
	{Name: "operation", Description: "For those who run the server."},
	{Name: "admin", Description: "For admins, whom QS_ADMIN_USERS names, and where a route says so for machines, which QS_MACHINE_ACCOUNTS does; for everybody else nothing is there."},
}

// bearer is the name of the way to sign in.
const bearer = "bearer"

// newHuma makes the part that turns typed handlers into routes and describes
// them. Its own pages are not used: they load scripts from elsewhere.
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
			Tags:    tags,
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

// complete is the door by which huma's answers leave.
func (s *server) complete(ctx huma.Context, _ string, body any) (any, error) {
	switch answer := body.(type) {
	case *failure:
		s.completeFailure(ctx.Context(), answer, ctx.SetHeader)
	case interface{ complete(meta) }:
		answer.complete(s.meta(ctx.Context()))
	}
	return body, nil
}

// answer is what huma writes.
type answer[T any] struct {
	Body *envelope[T]
}

// answerPatience is how long a request may be worked on once its body is there:
// longer than a command under an Idempotency-Key.
const answerPatience = keyTime + 5*time.Second

// AnswerTime is how long a request takes at most, from its sign-in until its answer
// is written: the body, the work, and keeping the answer to an Idempotency-Key.
// The server must give an answer longer than that (http.Server.WriteTimeout), so
// that there is one however many transactions of it meet others.
const AnswerTime = bodylimit.Patience + answerPatience + settlePatience

// route adds a route: In is its parameters and body, Data what it answers.
func route[In, Data any](s *server, op operation, handle func(ctx context.Context, by caller, in *In) (Data, error)) {
	huma.Register(s.huma, s.describe(op), func(ctx context.Context, in *In) (*answer[Data], error) {
		ctx, cancel := context.WithTimeout(ctx, answerPatience)
		defer cancel()
		data, err := handle(ctx, callerOf(ctx), in)
		if err != nil {
			return nil, asFailure(err)
		}
		return &answer[Data]{Body: enclose(data)}, nil
	})
}

// describe makes huma's description of a route, with the steps that a request
// takes before its parameters are read.
func (s *server) describe(op operation) huma.Operation {
	described := huma.Operation{
		OperationID: op.id, Method: op.method, Path: op.path, Summary: op.summary, Tags: []string{op.tag},
		Description:   "Who may: " + strings.Join(op.audience.names(), ", ") + ".",
		DefaultStatus: op.status,
		Extensions:    map[string]any{"x-audience": op.audience.names()},
		// checkBody has read the body under its own limit, and
		// huma's would cut off handlers that take longer: -1 sets none.
		MaxBodyBytes: -1, BodyReadTimeout: -1,
	}
	if op.audience.isAdmins() {
		described.Middlewares = append(described.Middlewares, takeCookie)
	}
	if !op.audience.has(anonymous) {
		described.Security = []map[string][]string{{bearer: {}}}
		described.Middlewares = append(described.Middlewares, s.authenticateBy(op.audience))
	}
	if op.audience.isAdmins() {
		described.Middlewares = append(described.Middlewares, s.demandAdmin)
	}
	if op.vouched {
		described.Description += " Only with a verified e-mail address, or a sign-in by Google or by a custom token."
		described.Middlewares = append(described.Middlewares, s.demandVouched)
	}
	if op.names != nil {
		described.Middlewares = append(described.Middlewares, s.checkID(op.names))
	}
	if op.keyed {
		described.Parameters = append(described.Parameters, describeKey())
		described.Middlewares = append(described.Middlewares, s.takeKey)
	}
	if op.condition != "" {
		described.Parameters = append(described.Parameters, describeCondition(op.condition))
		described.Middlewares = append(described.Middlewares, s.takeCondition(op.condition))
	}
	if op.method != http.MethodGet {
		described.Middlewares = append(described.Middlewares, s.checkBody)
	}
	return described
}
