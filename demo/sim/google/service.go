package google

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"questscheduler/demo/sim/control"
)

// ServiceAccount is a service account of a project.
type ServiceAccount struct {
	Email    string // such as quests@project.iam.gserviceaccount.com
	ClientID string // what an administrator grants scopes to; "" is one made of Email
	// Domains are those whose administrators let it act as their people, for
	// Scopes alone (domain-wide delegation); none: it is itself only.
	Domains, Scopes []string
}

// serviceAccount is a ServiceAccount as it is kept, in lower case.
type serviceAccount struct {
	Email    string   `json:"email"`
	ClientID string   `json:"client_id"`
	Domains  []string `json:"domains,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	KeyID    string   `json:"key_id"`
	// PrivateKey is PKCS #8 in PEM, as in the JSON key.
	PrivateKey string `json:"private_key"`
}

// googleTokenURL is the token endpoint that a key names, as Google's keys do. A
// client learns the simulator's address by other means.
const googleTokenURL = "https://oauth2.googleapis.com/token"

// serviceKey signs for every service account of the process. It is made at the
// first, since that takes a while, and no history depends on it. Google's keys have 2048
// bits; signing with half of them takes a sixth of the time, and nobody attacks a simulator.
var serviceKey = sync.OnceValues(func() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // see above
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
})

// AddServiceAccount makes a service account and gives its JSON key, as Google's
// console does. One that is there already gets the delegation that is asked for,
// and keeps its key; the grants that the delegation no longer covers end.
func (s *Server) AddServiceAccount(account ServiceAccount) (key []byte, err error) {
	err = s.change(func(c *change) error {
		kept := &serviceAccount{Email: fold(account.Email), ClientID: account.ClientID, KeyID: digest(fold(account.Email))}
		if kept.ClientID == "" {
			kept.ClientID = "client-of-" + kept.Email
		}
		if old := c.world.services[kept.Email]; old != nil {
			if account.ClientID != "" && account.ClientID != old.ClientID {
				return fmt.Errorf("google simulator: service account %s is there already with another client id", kept.Email)
			}
			again := *old
			kept = &again
		} else {
			kept.PrivateKey, err = serviceKey()
			if err != nil {
				return fmt.Errorf("google simulator: %w", err)
			}
		}
		if !strings.Contains(kept.Email, "@") || c.world.byEmail[kept.Email] != "" {
			return errors.New("google simulator: a service account needs an e-mail address of its own")
		}
		c.delegate(kept, account.Domains, account.Scopes)
		key, err = kept.json()
		return err
	})
	return key, err
}

// RevokeDelegation takes back what administrators granted a service account, as
// in the Admin console; its access tokens as other people end too. The service
// account itself, and its key, stay good.
func (s *Server) RevokeDelegation(email string) error {
	return s.change(func(c *change) error {
		old := c.world.services[fold(email)]
		if old == nil {
			return errors.New("google simulator: no such service account")
		}
		account := *old
		c.delegate(&account, nil, nil)
		return nil
	})
}

// delegate gives a service account another delegation. account belongs to the
// change from here on.
func (c *change) delegate(account *serviceAccount, domains, scopes []string) {
	account.Domains, account.Scopes = nil, slices.Clone(scopes)
	for _, domain := range domains {
		account.Domains = append(account.Domains, fold(domain))
	}
	c.record.Services = append(c.record.Services, account)
	for _, refresh := range sortedKeys(c.world.grants) {
		g := c.world.grants[refresh]
		if g.Service == account.Email && g.User != "" && !g.Revoked && !account.mayActAs(c.world.users[g.User].Email, g.Scopes) {
			c.revokeGrant(g)
		}
	}
}

// mayActAs says whether administrators let the service account act as a person,
// for all of the scopes. A scope that includes another does not stand for it.
func (a *serviceAccount) mayActAs(email string, scopes []string) bool {
	_, domain, _ := strings.Cut(fold(email), "@")
	return slices.Contains(a.Domains, domain) &&
		!slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(a.Scopes, scope) })
}

// json is the key in the form of the file that Google's console makes.
func (a *serviceAccount) json() ([]byte, error) {
	return json.Marshal(map[string]string{
		"type": "service_account", "project_id": "simulator", "private_key_id": a.KeyID, "private_key": a.PrivateKey,
		"client_email": a.Email, "client_id": a.ClientID, "token_uri": googleTokenURL,
	})
}

// caller is who calls by a grant: a person, or a service account as itself.
func (w *world) caller(g *grant) *User {
	if g.User != "" {
		return w.users[g.User]
	}
	account := w.services[g.Service]
	return &User{Key: account.Email, Sub: account.ClientID, Email: account.Email, TimeZone: "UTC"}
}

// simServiceAccount is PUT /_sim/service-accounts/{email} {"domains":
// ["example.com"], "scopes": ["…"]}; it answers the JSON key.
func (s *Server) simServiceAccount(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Domains []string `json:"domains"`
		Scopes  []string `json:"scopes"`
	}
	if !control.Decode(w, r, &body) {
		return
	}
	key, err := s.AddServiceAccount(ServiceAccount{Email: r.PathValue("email"), Domains: body.Domains, Scopes: body.Scopes})
	if err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	control.Answer(w, http.StatusOK, json.RawMessage(key))
}
