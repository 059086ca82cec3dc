package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// hintPerson is the hint of all that people ask for.
const hintPerson = "person"

// caller is who asks, and what their request is called in all it causes.
type caller struct {
	person scheduler.Person
	cause  scheduler.Cause
	// token is by which they are known, for what outlives it.
	token string
	// vouchedFor is signin.Person's.
	vouchedFor bool
}

type callerKey struct{}

// callerOf gives the caller of an authenticated request; nobody on routes that
// are open to everybody.
func callerOf(ctx context.Context) caller {
	by, _ := ctx.Value(callerKey{}).(caller)
	by.cause = causeOf(ctx)
	return by
}

// causeOf is what a person's request causes everything by.
func causeOf(ctx context.Context) scheduler.Cause {
	return scheduler.Cause{Hint: hintPerson, Trace: requestOf(ctx).id}
}

// authenticateBy demands the bearer token of a person, or where machines may call
// too of one of those, and holds the caller to their rate. Nothing else of the
// request is looked at before.
func (s *server) authenticateBy(who audience) func(ctx huma.Context, next func(huma.Context)) {
	callerFrom := s.callerFrom
	if who.has(machine) {
		callerFrom = s.operatorFrom
	}
	return func(ctx huma.Context, next func(huma.Context)) {
		by, err := callerFrom(ctx)
		if err == nil {
			requestOf(ctx.Context()).signedIn = true
			err = s.limitPerson(by.person.ID)
		}
		if err != nil {
			if fault.Is(err, fault.Unauthenticated) {
				ctx.SetHeader(echo.HeaderWWWAuthenticate, `Bearer realm="questscheduler"`)
			}
			s.answerError(err, humaecho.Unwrap(ctx))
			return
		}
		next(huma.WithValue(ctx, callerKey{}, by))
	}
}

// operatorFrom reads who is calling where machines may: a machine that proves
// itself by OIDC acts as an admin, under its e-mail address. Whoever is none may
// be a person; where nobody can tell whether it is one, and it is no person, that
// is Unavailable.
func (s *server) operatorFrom(ctx huma.Context) (caller, error) {
	if s.Operators == nil {
		return s.callerFrom(ctx)
	}
	token, err := signin.Bearer(ctx.Header(echo.HeaderAuthorization))
	if err != nil {
		return caller{}, err
	}
	known, unknown := s.Operators.Verify(ctx.Context(), token)
	if unknown == nil {
		return caller{person: scheduler.Person{ID: known.Email, Admin: true}, cause: causeOf(ctx.Context()), token: token}, nil
	}
	by, err := s.callerBy(ctx.Context(), token)
	if fault.Is(err, fault.Unauthenticated) && fault.Is(unknown, fault.Unavailable) {
		err = unknown
	}
	return by, err
}

// callerFrom reads who is calling. An e-mail address counts only where it is
// theirs for certain.
func (s *server) callerFrom(ctx huma.Context) (caller, error) {
	token, err := signin.Bearer(ctx.Header(echo.HeaderAuthorization))
	if err != nil {
		return caller{}, err
	}
	return s.callerBy(ctx.Context(), token)
}

// callerBy is the caller whom a token speaks for.
func (s *server) callerBy(ctx context.Context, token string) (caller, error) {
	known, err := s.SignIn.Verify(ctx, token)
	if err != nil {
		return caller{}, err
	}
	person := scheduler.Person{ID: known.UID, Admin: known.Admin}
	if known.EmailVerified {
		person.Email = known.Email
	}
	return caller{person: person, cause: causeOf(ctx), token: token, vouchedFor: known.VouchedFor}, nil
}

// codeUnverified is the reason of a refusal of somebody whose sign-in does not say
// who they are.
const codeUnverified = "sign_in_unverified"

// demandVouched lets those on whose sign-in says who they are. It stands behind
// authenticateBy and reads the caller that it found.
func (s *server) demandVouched(ctx huma.Context, next func(huma.Context)) {
	if !callerOf(ctx.Context()).vouchedFor {
		refused := fault.New(fault.Forbidden, "Verify your e-mail address first, or sign in with Google, and send the new token.")
		refused.Code = codeUnverified
		s.answerError(refused, humaecho.Unwrap(ctx))
		return
	}
	next(ctx)
}

// demandAdmin lets admins on; for everybody else who is signed in nothing is
// there. It stands behind authenticateBy and reads the caller that it found.
func (s *server) demandAdmin(ctx huma.Context, next func(huma.Context)) {
	if !callerOf(ctx.Context()).person.Admin {
		s.answerError(echo.ErrNotFound, humaecho.Unwrap(ctx))
		return
	}
	next(ctx)
}
