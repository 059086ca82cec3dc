package accounts

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"time"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

// StateLife is how long a consent may take, and how long a ticket is valid.
const StateLife = 5 * time.Minute

// stateKeep is how long a state is stored, far longer than the web app's functions, which
// store theirs in the same collection, may need it.
const stateKeep = 24 * time.Hour

// Purposes of sealed values; one does not open as another.
const (
	ticketPurpose   = "link ticket"
	statePurpose    = "oauth state"
	verifierPurpose = "oauth verifier"
)

const stateCollection = "oauthStates"

// state is a document of oauthStates: a consent that began, closed to clients. The state
// that travels through Google is its sealed id.
type state struct {
	ID  string
	Ask Ask
	// Verifier is the secret of PKCE; it is stored sealed.
	Verifier string
	// Browser is the hash of the browser's secret; "" for none.
	Browser string
}

// sealedNote is the content of a ticket or a state.
type sealedNote struct {
	ID    string `json:"id,omitempty"`
	Ask   *Ask   `json:"ask,omitempty"`
	Until int64  `json:"until"` // Unix seconds
}

func (r *Repository) sealNote(purpose string, n sealedNote) (string, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return "", err
	}
	return r.keys.Seal(string(text), seal.Binding{Purpose: purpose})
}

// openNote opens a sealed note that has not expired.
func (r *Repository) openNote(purpose, sealed string) (sealedNote, error) {
	text, _, err := r.keys.Open(sealed, seal.Binding{Purpose: purpose})
	if err != nil {
		return sealedNote{}, errStateMismatch()
	}
	var opened sealedNote
	if err := json.Unmarshal([]byte(text), &opened); err != nil || r.now().Unix() >= opened.Until {
		return sealedNote{}, errStateMismatch()
	}
	return opened, nil
}

func statePath(id string) store.Path { return store.Doc(stateCollection, id) }

func verifierPlace(id, personID string) seal.Binding {
	return seal.Binding{Person: personID, Account: id, Purpose: verifierPurpose}
}

// begin records a consent and returns the state for Google.
func (r *Repository) begin(ctx context.Context, begun state) (sealed string, err error) {
	now := r.now()
	verifier, err := r.keys.Seal(begun.Verifier, verifierPlace(begun.ID, begun.Ask.PersonID))
	if err != nil {
		return "", err
	}
	sealed, err = r.sealNote(statePurpose, sealedNote{ID: begun.ID, Until: now.Add(StateLife).Unix()})
	if err != nil {
		return "", err
	}
	return sealed, r.store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Create(statePath(begun.ID), map[string]any{
			"uid": begun.Ask.PersonID, "name": begun.Ask.PersonName, "createdAt": now,
			"accountId": store.NullIfEmpty(begun.Ask.AccountID), "anyIdentity": begun.Ask.AnyIdentity,
			"returnTo": store.NullIfEmpty(begun.Ask.ReturnTo), "verifier": verifier, "browser": store.NullIfEmpty(begun.Browser),
			"features": texts(begun.Ask.Features),
		})
	})
}

// end uses up a state. It is valid once, and only for the browser that began it or with
// the token of its person: otherwise an attacker could make another person consent and link
// that person's account as their own. On CodeStateMismatch the state stays valid for its
// owner.
func (r *Repository) end(ctx context.Context, back Back) (state, error) {
	opened, err := r.openNote(statePurpose, back.State)
	if err != nil {
		return state{}, err
	}
	if statePath(opened.ID).Valid() != nil {
		return state{}, errStateMismatch()
	}
	var begun state
	var verifier string
	now := r.now()
	err = r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, statePath(opened.ID))
		if err != nil {
			return err
		}
		f := store.Fields(doc.Data)
		same := back.Browser != "" && subtle.ConstantTimeCompare([]byte(f.String("browser")), []byte(hashBrowser(back.Browser))) == 1
		theirs := back.PersonID != "" && back.PersonID == f.String("uid")
		if !doc.Exists() || f.Has("usedAt") || !same && !theirs {
			return errStateMismatch()
		}
		verifier = f.String("verifier")
		begun = state{ID: opened.ID, Ask: Ask{
			PersonID: f.String("uid"), PersonName: f.String("name"), AccountID: f.String("accountId"),
			AnyIdentity: f.Bool("anyIdentity"), ReturnTo: f.String("returnTo"),
		}}
		for _, feature := range f.Strings("features") {
			begun.Ask.Features = append(begun.Ask.Features, Feature(feature))
		}
		return tx.Update(statePath(opened.ID), store.Set("usedAt", now), store.Set("verifier", store.Delete))
	})
	if err != nil {
		return state{}, err
	}
	begun.Verifier, _, err = r.keys.Open(verifier, verifierPlace(begun.ID, begun.Ask.PersonID))
	return begun, err
}

// hashBrowser hashes a browser's secret, so that reading the store does not reveal it.
func hashBrowser(secret string) string {
	if secret == "" {
		return ""
	}
	return ids.Of(secret).Hex(32)
}

// RemoveExpiredStates removes at most limit OAuth states that began over a day ago, those
// of the web app's functions included, and returns how many. Expiry does not depend on
// it.
func RemoveExpiredStates(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, err error) {
	return store.DeletePage(ctx, documents, statesBefore.With(now.Add(-stateKeep)).First(limit), nil)
}
