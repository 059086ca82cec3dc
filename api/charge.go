package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

// limitAddress is for routes that are open to everybody.
func (s *server) limitAddress(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.charge(c); err != nil {
			return err
		}
		return next(c)
	}
}

// charge counts a request against the rate of its address, once however often it
// is called; its error is the answer to an address that is over its rate.
func (s *server) charge(c echo.Context) error {
	request := requestOf(c.Request().Context())
	if request.charged {
		return nil
	}
	request.charged = true
	if wait := s.addresses.take(addressOf(c), s.Now()); wait > 0 {
		return errTooFast(wait)
	}
	return nil
}

// AdmitPush holds a push that proves nothing by itself to the rate of its address,
// for the route that is added to the API: its error is the answer. A push that is
// proven counts for no address, however it is answered: Google pushes for everybody
// from few. It counts for its channel, since a token never expires and anybody who
// has one can replay it.
func AdmitPush(c echo.Context, channelID string, proven bool) error {
	request := requestOf(c.Request().Context())
	s := request.server
	if !proven {
		return s.charge(c)
	}
	request.proven = true
	if wait := s.channels.take(channelID, s.Now()); wait > 0 {
		return errTooFast(wait)
	}
	return nil
}

// orTooFast is the failure that is answered in place of another. An address pays
// for what nobody known asked for and what is refused: wrong tokens, forged
// pushes, addresses where nothing is. Who is known (request.known) pays for
// themselves or nothing. So nothing is refused by address before it is known whose
// it is.
func (s *server) orTooFast(f *failure, c echo.Context) *failure {
	refused := f.status < http.StatusInternalServerError && f.status != http.StatusTooManyRequests
	if !refused || requestOf(c.Request().Context()).known() {
		return f
	}
	if tooFast, ok := errors.AsType[*failure](s.charge(c)); ok {
		return tooFast
	}
	return f
}
