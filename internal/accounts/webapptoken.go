package accounts

import (
	"context"
	"strings"
	"time"

	"questscheduler/internal/store"
)

// tokenMark is the document that keeps when a person last unlinked an account that may hold their
// token in the web app. It outlives the account, as the web app's copy of the token may, which
// BackfillTokens would else link again.
func tokenMark(personID string) store.Path { return store.Doc("backfills", "token-"+personID) }

// markToken writes the tokenMark of an account that is unlinked, if the web app has a token.
func markToken(ctx context.Context, tx store.Tx, account Account, now time.Time) error {
	if account.OwnerID == "" {
		return nil
	}
	old, person, err := webAppToken(ctx, tx, account.OwnerID)
	if err != nil || !old.Has("refreshToken") || !account.mayHold(webAppEmail(person)) {
		return err
	}
	return tx.Set(tokenMark(account.OwnerID), map[string]any{"unlinkedAt": now})
}

// webAppToken reads a person's token in the web app, and their document.
func webAppToken(ctx context.Context, tx store.Tx, personID string) (old, person store.Fields, err error) {
	docs, err := tx.GetAll(ctx, []store.Path{store.Doc("userSecrets", personID), store.Doc("users", personID)})
	if err != nil {
		return nil, nil, err
	}
	return store.Fields(docs[0].Data).Map("googleCalendar"), docs[1].Data, nil
}

// webAppEmail is the e-mail address of the Google account that a person's token is of; "" if the
// web app does not say.
func webAppEmail(person store.Fields) string {
	return normalAddress(person.Map("settings").String("linkedCalendarEmail"))
}

// mayHold reports whether an account may hold its owner's token of the Google account of an e-mail
// address.
func (a Account) mayHold(email string) bool {
	return email == "" || a.Email == "" || strings.EqualFold(a.Email, email)
}
