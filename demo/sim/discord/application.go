package discord

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"questscheduler/demo/sim/control"
)

// application is the one application: its bot has the same id, as at Discord.
type application struct {
	Seed     []byte `json:"seed"`     // of the key that signs interactions
	Endpoint string `json:"endpoint"` // where they are sent; "" is nowhere
}

// Application is the application's id and the key that verifies the signatures of its
// interactions, in hexadecimal.
func (s *Server) Application() (id, publicKeyHex string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return BotID, s.world.verifyKey()
}

func (a application) key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(a.Seed) }

func (a application) verifyKey() string {
	public, _ := a.key().Public().(ed25519.PublicKey)
	return hex.EncodeToString(public)
}

// makeKey gives the application a key, unless the journal held one.
func (s *Server) makeKey() error {
	if s.world.Seed != nil {
		return nil
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	return s.commit(record{Application: &application{Seed: key.Seed()}})
}

// shown is the application as Discord answers it.
func (a application) shown() map[string]any {
	var endpoint any
	if a.Endpoint != "" {
		endpoint = a.Endpoint
	}
	return map[string]any{"id": BotID, "name": BotName, "verify_key": a.verifyKey(), "interactions_endpoint_url": endpoint}
}

// getApplication is applications.get.
func (s *Server) getApplication(*http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.application.shown(), nil
}

// patchApplication is applications.patch: of its fields only the endpoint is kept, and
// only if it passes the probe.
func (s *Server) patchApplication(r *http.Request) (any, error) {
	const field = "interactions_endpoint_url"
	fields, err := readFields(r)
	if err != nil {
		return nil, err
	}
	raw, sent := fields[field]
	if !sent {
		return s.getApplication(r)
	}
	endpoint, wrong := "", formErrors{}
	decode(raw, &endpoint, wrong, "STRING_TYPE_CONVERT", "Could not interpret value as string.", field)
	if len(wrong) == 0 && s.probe(r.Context(), endpoint) != nil {
		wrong.add("APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID", "The specified interactions endpoint url could not be verified.", field)
	}
	if len(wrong) > 0 {
		return nil, wrong.problem()
	}
	return s.setEndpoint(endpoint)
}

// simApplication is PUT /_sim/application {"endpoint": "http://…"}. The probe is that of
// applications.patch, and a refusal says what failed.
func (s *Server) simApplication(w http.ResponseWriter, r *http.Request) {
	var change struct {
		Endpoint string `json:"endpoint"`
	}
	if !control.Decode(w, r, &change) {
		return
	}
	if err := s.probe(r.Context(), change.Endpoint); err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	answer, err := s.setEndpoint(change.Endpoint)
	if err != nil {
		control.Refuse(w, http.StatusInternalServerError, err)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

func (s *Server) setEndpoint(endpoint string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.world.application
	if a.Endpoint != endpoint {
		a.Endpoint = endpoint
		if err := s.commit(record{Application: &a}); err != nil {
			return nil, err
		}
	}
	return a.shown(), nil
}

// checkEndpoint wants an address. Discord wants https, which no simulator serves.
func checkEndpoint(endpoint string) error {
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return errors.New("endpoint: give an address such as http://127.0.0.1:8080/webhooks/discord/interactions")
	}
	return nil
}

// isPong says whether an answer accepts a PING.
func isPong(body json.RawMessage) bool {
	var pong struct {
		Type int `json:"type"`
	}
	return json.Unmarshal(body, &pong) == nil && pong.Type == 1
}
