package accounts

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"time"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/store"
)

// StateLife is how long a consent may take, and how long a ticket for one is
// good.
const StateLife = 5 * time.Minute

// stateKeep is how long a state stays on record: far beyond what the web app's
// own functions, which keep theirs beside ours, may wait for.
const stateKeep = 24 * time.Hour

// What tickets, states and verifiers are sealed for: none passes for another.
const (
	ticketPurpose   = "link ticket"
	statePurpose    = "oauth state"
	verifierPurpose = "oauth verifier"
)

// stateCollection holds the consents that were begun.
const stateCollection = "oauthStates"

// state is a document of oauthStates: a consent that was begun. Server only.
// The state that travels through Google is its id, sealed.
type state struct {
	ID  string
	Ask Ask
	// Verifier is the secret of PKCE; it is stored sealed.
	Verifier string
	// Browser is the hash of the browser's secret; "" for none.
	Browser string
}

// note is what is sealed into a ticket or a state.
type note struct {
	ID    string `json:"id,omitempty"`
	Ask   *Ask   `json:"ask,omitempty"`
	Until int64  `json:"until"` // Unix seconds
}

func (r *Repository) sealNote(purpose string, n note) (string, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return "", err
	}
	return r.keys.Seal(string(text), seal.Binding{Purpose: purpose})
}

// openNote opens what sealNote sealed and is not too old.
func (r *Repository) openNote(purpose, sealed string) (note, error) {
	text, _, err := r.keys.Open(sealed, seal.Binding{Purpose: purpose})
	if err != nil {
		return note{}, errStateMismatch() // whatever it is, it is not ours
	}
	var opened note
	if err := json.Unmarshal([]byte(text), &opened); err != nil || r.now().Unix() >= opened.Until {
		return note{}, errStateMismatch()
	}
	return opened, nil
}

func statePath(id string) store.Path { return store.Doc(stateCollection, id) }

func verifierPlace(id, personID string) seal.Binding {
	return seal.Binding{Person: personID, Account: id, Purpose: verifierPurpose}
}

// begin records a consent and gives the state for Google.
func (r *Repository) begin(ctx context.Context, begun state) (sealed string, err error) {
	now := r.now()
	verifier, err := r.keys.Seal(begun.Verifier, verifierPlace(begun.ID, begun.Ask.PersonID))
	if err != nil {
		return "", err
	}
	sealed, err = r.sealNote(statePurpose, note{ID: begun.ID, Until: now.Add(StateLife).Unix()})
	if err != nil {
		return "", err
	}
	return sealed, r.store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Create(statePath(begun.ID), map[string]any{
			"uid": begun.Ask.PersonID, "name": begun.Ask.PersonName, "createdAt": now,
			"accountId": store.NullIfEmpty(begun.Ask.AccountID), "anyIdentity": begun.Ask.AnyIdentity,
			"returnTo": store.NullIfEmpty(begun.Ask.ReturnTo), "verifier": verifier, "browser": store.NullIfEmpty(begun.Browser),
		})
	})
}

// end takes a state that came back: it is good once, and only for the browser
// that began it or with the token of the person for whom it was begun. Otherwise
// somebody could have another person consent, and link that person's account as
// theirs. CodeStateMismatch where it is not so, and then the state stays good for
// the one that began it.
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
		return tx.Update(statePath(opened.ID),
			store.Update{Path: store.Field("usedAt"), Value: now}, store.Update{Path: store.Field("verifier"), Value: store.Delete})
	})
	if err != nil {
		return state{}, err
	}
	begun.Verifier, _, err = r.keys.Open(verifier, verifierPlace(begun.ID, begun.Ask.PersonID))
	return begun, err
}

// hashBrowser is how a browser's secret is kept: who reads the store cannot
// come back in its place.
func hashBrowser(secret string) string {
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// RemoveExpiredStates removes the OAuth states that were begun a day ago, limit
// at most, and gives how many it removed; those that the web app's own functions
// left behind too. It may be called again and again. That a state is past its
// life does not hang on it.
func RemoveExpiredStates(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, err error) {
	return store.DeletePage(ctx, documents, statesBefore.With(now.Add(-stateKeep)).First(limit), nil)
}
