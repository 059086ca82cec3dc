package google

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// syncToken is what stands in a nextSyncToken. Tokens are not stored: a
// restart that keeps the world keeps them good.
type syncToken struct {
	Calendar      string `json:"c"`
	Epoch         int64  `json:"e"`
	CalendarEpoch int64  `json:"a"`
	// Since is the version up to which everything has been listed.
	Since   int64  `json:"v"`
	Shaping string `json:"s"`
	Given   int64  `json:"t"` // Unix seconds
}

// pageToken is what stands in a nextPageToken.
type pageToken struct {
	Calendar string `json:"c"`
	Request  string `json:"r"`
	// After is the place reached: a version, or how many events went before.
	After int64 `json:"p"`
	// Instance is the last one shown of the series behind that place.
	Instance string `json:"i,omitempty"`
	// UpTo is the version when the first page was asked for.
	UpTo int64 `json:"v"`
}

func (t syncToken) encode() string { return encodeToken(t) }
func (t pageToken) encode() string { return encodeToken(t) }

func encodeToken(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		// Strings and integers always have a JSON form.
		panic(err)
	}
	return base64.URLEncoding.EncodeToString(text)
}

func decodeToken(text string, v any) bool {
	raw, err := base64.URLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(raw, v) == nil
}

// checkSyncToken refuses a token that is none or was given for something else
// (400), and one that has ended (410): on demand, by age, by a change of the
// access list, or because it comes from another life of the simulator.
func (w *world) checkSyncToken(cal *calendar, l *listing) (syncToken, error) {
	var t syncToken
	if !decodeToken(l.syncToken, &t) || t.Calendar != cal.ID {
		return t, errSyncToken
	}
	if err := w.ended(cal, t, l.now, l.tokenLife); err != nil {
		return t, err
	}
	if t.Shaping != digest(l.shaping) {
		return t, newError(http.StatusBadRequest, "badRequest",
			"Sync token cannot be used with other parameters than those of the listing that gave it.")
	}
	return t, nil
}

// tokenEndings are the answers to tokens that were ended on demand, by
// record.Reason.
var tokenEndings = map[string]*apiError{
	"":                   errFullSync,
	errFullSync.reason:   errFullSync,
	errTooLongAgo.reason: errTooLongAgo,
	errSyncToken.reason:  errSyncToken,
}

// ended gives the refusal of a token that is no longer valid, or nil.
func (w *world) ended(cal *calendar, t syncToken, now time.Time, life time.Duration) error {
	switch {
	case t.Epoch != w.epoch:
		return tokenEndings[w.epochReason]
	case now.Sub(time.Unix(t.Given, 0)) >= life:
		return errTooLongAgo
	case t.CalendarEpoch != cal.Epoch, t.Since > w.version:
		return errFullSync
	}
	return nil
}

// digest shortens a text. Requests that differ have different digests.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
