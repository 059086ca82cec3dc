// Package interactions answers what people do with the bot on Discord: buttons, forms and
// commands. Discord sends each to one route, signed, and waits three seconds.
//
//	signature → PING, age → ours (table.go) → person → one command of scheduler → answer
//	                      → otherwise passed on raw (upstream.go)
//
// A press may come again, and its answer may be lost: an effect is recorded under the interaction's
// id in its own transaction. Answers are seen by the one who pressed alone.
package interactions

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Path is where Discord sends interactions.
const Path = "/webhooks/discord/interactions"

const (
	maxBody = 256 << 10
	// maxAge is how long Discord's token for an interaction lives.
	maxAge = 15 * time.Minute
	// patience is how long an answer may take, of Discord's three seconds.
	patience = 2 * time.Second
)

// Groups is implemented by scheduler.Service.
type Groups interface {
	CreateGroup(ctx context.Context, person scheduler.Person, ask scheduler.EditGroup) (poll.Group, error)
	LinkChannel(ctx context.Context, person scheduler.Person, groupID string, at scheduler.Place) (poll.Group, error)
	LinkChannelByCode(ctx context.Context, use scheduler.UseCode, at scheduler.Place) (poll.Group, error)
	UnlinkChannel(ctx context.Context, at scheduler.Place) (unlinked int, err error)
}

// Polls is implemented by scheduler.Service.
type Polls interface {
	Create(ctx context.Context, person scheduler.Person, ask scheduler.Create, cause scheduler.Cause) (scheduler.View, error)
	Finalise(
		ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Finalise, cause scheduler.Cause,
	) (scheduler.View, error)
	Cancel(ctx context.Context, person scheduler.Person, pollID string, keepEvent bool, cause scheduler.Cause) (scheduler.View, error)
	Reopen(ctx context.Context, person scheduler.Person, pollID string, deleteEvent bool, cause scheduler.Cause) (scheduler.View, error)
	RestoreOriginal(ctx context.Context, person scheduler.Person, pollID string, cause scheduler.Cause) (scheduler.View, error)
	AcceptNew(ctx context.Context, person scheduler.Person, pollID, shown string, cause scheduler.Cause) (scheduler.View, error)
	View(ctx context.Context, person scheduler.Person, pollID string) (scheduler.View, error)
	ViewFrom(ctx context.Context, person scheduler.Person, pollID string, at scheduler.Place) (scheduler.View, error)
	PollsHere(ctx context.Context, person scheduler.Person, at scheduler.Place) ([]poll.Poll, error)
	Cast(ctx context.Context, person scheduler.Person, pollID string, ask scheduler.Vote, cause scheduler.Cause) (scheduler.Ballot, error)
}

// Options configure the route. All fields are needed but those that say what holds without them.
type Options struct {
	Polls  Polls
	Groups Groups
	Links  discord.Links
	Store  store.Store
	// HasCalendar reports whether a person has linked a calendar that events can be made in.
	HasCalendar func(ctx context.Context, uid string) (bool, error)
	// EmailOf gives an address that the sign-in verified as a person's; "" for none. nil: none is
	// known, and nobody is invited by one here.
	EmailOf func(ctx context.Context, uid string) (string, error)
	// Count counts a person's command on a poll before it begins (api.Commands.Count).
	Count func(uid, pollID string) (undo func(), err error)
	// ApplicationID and Key are the application's, as Discord's portal shows them.
	ApplicationID string
	Key           ed25519.PublicKey
	// Upstream answers what is not ours; "": nothing does.
	Upstream string
	HTTP     *http.Client
	// AppURL is the web app's address; "" leaves out links to it.
	AppURL string
	// Refuse charges a request without a valid signature to its address; its error is the answer.
	Refuse func(c echo.Context) error
	// LimitUser returns RateLimited for a Discord user over their rate.
	LimitUser func(c echo.Context, userID string) error
	Now       func() time.Time
	Log       *slog.Logger
	// Refused is for requests without a valid signature, which anybody can cause without end.
	Refused *slog.Logger
}

type handler struct{ Options }

// Register adds the route to e. 200: an answer that Discord shows; 401: Discord did not sign it,
// or it is another application's; 400: it is signed, and no interaction of now.
func Register(e *echo.Echo, options Options) {
	h := &handler{options}
	e.POST(Path, h.serve)
}

func traceOf(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

func (h *handler) serve(c echo.Context) error {
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	if errors.As(err, new(*http.MaxBytesError)) {
		return fault.New(fault.TooLarge, "No interaction of Discord is that large.")
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The interaction did not arrive whole. Send it again.")
	}
	if !signed(h.Key, c.Request().Header, body) {
		return h.refuse(c, "signature")
	}
	var in interaction
	if err := json.Unmarshal(body, &in); err != nil {
		return fault.Wrap(fault.Invalid, err, "This is no interaction of Discord.")
	}
	switch at, valid := made(in.ID); {
	case in.ApplicationID != h.ApplicationID:
		return h.refuse(c, "application")
	case in.Kind == kindPing:
		return c.JSON(http.StatusOK, answer{Kind: answerPong})
	case !valid || h.Now().Sub(at) > maxAge:
		return fault.New(fault.Invalid, "This interaction is over. Press again.")
	}
	act, asked := actOf(in, traceOf(c))
	counted := in.by().ID
	if in.Kind == kindAutocomplete { // typing must cost no press
		counted = "autocomplete:" + counted
	}
	if err := h.LimitUser(c, counted); err != nil {
		return c.JSON(http.StatusOK, sorry(in.Kind, "That is too much at once. Wait a minute, and try again."))
	}
	if act == nil {
		return h.passOn(c, in.Kind, body)
	}
	return c.JSON(http.StatusOK, h.answer(c, act, asked))
}

func (h *handler) refuse(c echo.Context, what string) error {
	if err := h.Refuse(c); err != nil {
		return err
	}
	// Discord itself sends bad signatures at times, to see them refused.
	h.Refused.InfoContext(c.Request().Context(), "interaction not signed by Discord", "trace", traceOf(c), "reason", what)
	return fault.New(fault.Unauthenticated, "Discord did not sign this request for this application.")
}

// answer carries out an interaction. What fails is said to the one who caused it: Discord shows
// nobody a status.
func (h *handler) answer(c echo.Context, act act, asked request) answer {
	ctx, cancel := context.WithTimeout(c.Request().Context(), patience)
	defer cancel()
	said, err := act(h, ctx, asked)
	if err == nil {
		return said
	}
	said = h.refusal(ctx, asked, err)
	if asked.Kind == kindAutocomplete {
		return sorry(asked.Kind, "")
	}
	return said
}

// refusal is what is said of an error, which it logs.
func (h *handler) refusal(ctx context.Context, asked request, err error) answer {
	switch {
	case isNotLinked(err):
		return h.notLinked()
	case fault.CodeOf(err) == discord.CodeInteractionDone:
		return say("Done already.")
	}
	if kind := fault.KindOf(err); kind == fault.Internal || kind == fault.Unavailable {
		h.Log.WarnContext(ctx, "interaction failed", "poll", asked.poll, "interaction", asked.ID, "trace", asked.trace, "error", err)
	} else {
		h.Log.InfoContext(ctx, "interaction refused", "poll", asked.poll, "interaction", asked.ID, "trace", asked.trace, "error", err)
	}
	switch {
	case fault.Is(err, fault.Unavailable) && ctx.Err() == nil: // its sentence is for operators
		return say("That did not work. Try again in a moment.")
	case ctx.Err() != nil:
		return say("That takes longer than Discord waits. The card shows what came of it; if nothing did, try again.")
	}
	return say(strings.TrimSpace(fault.MessageOf(err, "That did not work. Try again in a moment.")))
}
