package accounts

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
)

// drainLimit is how much of a discarded answer is read so that its connection can be
// reused.
const drainLimit = 64 << 10

// transport authorises requests as one account, or as the service account itself.
type transport struct {
	grants  *Grants
	account string // "" for the service account
	source  tokenSource
	token   atomic.Pointer[accessToken]
}

// tokenSource gets an access token other than the refused one, from memory or Google.
type tokenSource func(ctx context.Context, refused string) (accessToken, error)

// RoundTrip implements http.RoundTripper. On a 401 it refreshes the access token and
// repeats the request once, if its body can be sent again; the second answer is returned
// whatever it is.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	token := t.token.Load()
	if !t.grants.now().Before(token.expires.Add(-expiryMargin)) {
		fresh, err := t.renew(request, token.value)
		if err != nil {
			closeBody(request)
			return nil, err
		}
		token = fresh
	}
	response, err := t.grants.transport.RoundTrip(authorise(request, token.value))
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	again, ok := repeatable(request)
	if !ok {
		return response, nil
	}
	discard(response)
	fresh, err := t.renew(request, token.value)
	if err != nil {
		closeBody(again)
		return nil, err
	}
	return t.grants.transport.RoundTrip(authorise(again, fresh.value))
}

// renew gets an access token other than the refused one.
func (t *transport) renew(request *http.Request, refused string) (*accessToken, error) {
	token, err := t.source(request.Context(), refused)
	if err != nil {
		return nil, err
	}
	t.token.Store(&token)
	return &token, nil
}

// authorise returns a copy of the request with the token.
func authorise(request *http.Request, token string) *http.Request {
	authorised := request.Clone(request.Context())
	authorised.Header.Set("Authorization", "Bearer "+token)
	return authorised
}

// repeatable returns a copy of the request with its body from the start, if possible.
func repeatable(request *http.Request) (*http.Request, bool) {
	again := request.Clone(request.Context())
	if request.Body == nil || request.Body == http.NoBody {
		return again, true
	}
	if request.GetBody == nil {
		return nil, false
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, false // the first answer is returned
	}
	again.Body = body
	return again, true
}

func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close() // nothing was read from it
	}
}

// discard ends an unused answer. An error concerns only its connection, which is then not
// reused.
func discard(response *http.Response) {
	_, _ = io.CopyN(io.Discard, response.Body, drainLimit)
	_ = response.Body.Close()
}
