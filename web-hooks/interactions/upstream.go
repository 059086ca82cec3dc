package interactions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	// upstreamPatience leaves Discord's three seconds some for the way.
	upstreamPatience = 2500 * time.Millisecond
	maxUpstream      = 1 << 20
)

// passOn has the web app's functions answer an interaction that is not ours: raw, with Discord's
// signature, which they verify again. Status, content type and body come back. What does not
// come in time may still arrive by the interaction's own token.
func (h *handler) passOn(c echo.Context, kind int, body []byte) error {
	if h.Upstream == "" {
		return c.JSON(http.StatusOK, sorry(kind, "This is not answered here."))
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), upstreamPatience)
	defer cancel()
	status, content, answered, err := h.ask(ctx, c.Request().Header, body)
	if err != nil {
		h.Log.WarnContext(ctx, "interaction not answered upstream", "trace", traceOf(c), "error", err)
		return c.JSON(http.StatusOK, sorry(kind, "That took too long. Try again in a moment."))
	}
	return c.Blob(status, content, answered)
}

func (h *handler) ask(ctx context.Context, header http.Header, body []byte) (status int, kind string, answered []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.Upstream, bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	for _, name := range []string{headerSignature, headerTimestamp, echo.HeaderContentType} {
		request.Header.Set(name, header.Get(name))
	}
	response, err := h.HTTP.Do(request)
	if err != nil {
		return 0, "", nil, err
	}
	answered, err = io.ReadAll(io.LimitReader(response.Body, maxUpstream+1))
	err = errors.Join(err, response.Body.Close())
	switch {
	case err != nil:
	case len(answered) > maxUpstream:
		err = errors.New("the answer is too long")
	case response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest:
		err = fmt.Errorf("it leads elsewhere (%d), where an interaction is never sent", response.StatusCode)
	}
	return response.StatusCode, response.Header.Get(echo.HeaderContentType), answered, err
}
