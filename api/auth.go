package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// triggerPerson is the trigger of people's requests.
const triggerPerson = "person"

// caller is an authenticated caller, and the cause of all that their request does.
type caller struct {
	person scheduler.Person
	cause  scheduler.Cause
	token  string // for streams, which outlive it
	// vouchedFor and signedIn are those of signin.Person.
	vouchedFor bool
	signedIn   time.Time
}

type callerKey struct{}

// callerOf returns the caller of a request; the zero person on routes that are
// open to everybody.
func callerOf(ctx context.Context) caller {
	by, _ := ctx.Value(callerKey{}).(caller)
	by.cause = causeOf(ctx)
	by.cause.Person = by.person.ID
	return by
}

func causeOf(ctx context.Context) scheduler.Cause {
	return scheduler.Cause{Trigger: triggerPerson, Trace: requestOf(ctx).id}
}

// authenticate demands the bearer token of a person, or of a machine where those
// may call, and holds the caller to their rate. Nothing else of the request is
// read before.
func (s *server) authenticate(who audience) func(huma.Context) (huma.Context, error) {
	callerFrom := s.callerBy
	if who.has(machine) && s.Operators != nil {
		callerFrom = s.operatorBy
	}
	return func(ctx huma.Context) (huma.Context, error) {
		token, err := signin.Bearer(ctx.Header(echo.HeaderAuthorization))
		var by caller
		if err == nil {
			by, err = callerFrom(ctx.Context(), token)
		}
		if err == nil {
			requestOf(ctx.Context()).signedIn = true
			err = s.limitPerson(by.person.ID)
		}
		if fault.Is(err, fault.Unauthenticated) {
			ctx.SetHeader(echo.HeaderWWWAuthenticate, `Bearer realm="questscheduler"`)
		}
		return huma.WithValue(ctx, callerKey{}, by), err
	}
}

// operatorBy authenticates a machine by OIDC, which acts as an admin under its
// e-mail address, or else a person. Unavailable: the token may be a machine's, and
// is no person's.
func (s *server) operatorBy(ctx context.Context, token string) (caller, error) {
	account, machineErr := s.Operators.Verify(ctx, token)
	if machineErr == nil {
		return caller{person: scheduler.Person{ID: account.Email, Admin: true}, token: token}, nil
	}
	by, err := s.callerBy(ctx, token)
	if fault.Is(err, fault.Unauthenticated) && fault.Is(machineErr, fault.Unavailable) {
		err = machineErr
	}
	return by, err
}

// callerBy authenticates a person. Only a verified e-mail address counts.
func (s *server) callerBy(ctx context.Context, token string) (caller, error) {
	known, err := s.SignIn.Verify(ctx, token)
	if err != nil {
		return caller{}, err
	}
	person := scheduler.Person{ID: known.UID, Email: known.VerifiedEmail(), Admin: known.Admin}
	return caller{person: person, cause: causeOf(ctx), token: token, vouchedFor: known.VouchedFor, signedIn: known.SignedIn}, nil
}

// codeUnverified is the reason of a refusal by demandVouched.
const codeUnverified = "sign_in_unverified"

// demandVouched refuses callers whose sign-in does not prove who they are.
func demandVouched(ctx huma.Context) (huma.Context, error) {
	if !callerOf(ctx.Context()).vouchedFor {
		refused := fault.New(fault.Forbidden, "Verify your e-mail address first, or sign in with Google, and send the new token.")
		refused.Code = codeUnverified
		return nil, refused
	}
	return ctx, nil
}

// demandAdmin answers everybody but admins as if there were no such route.
func demandAdmin(ctx huma.Context) (huma.Context, error) {
	if !callerOf(ctx.Context()).person.Admin {
		return nil, echo.ErrNotFound
	}
	return ctx, nil
}
