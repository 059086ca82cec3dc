package discord

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// answerWithin is how long the endpoint may take to answer an interaction.
const answerWithin = 3 * time.Second

// reply is what the endpoint answered.
type reply struct {
	status int
	kind   string // the content type
	body   []byte
}

// check wants an answer that Discord reads: 200 and JSON.
func (a reply) check() error {
	if a.status != http.StatusOK {
		return fmt.Errorf("the endpoint answered %d instead of 200", a.status)
	}
	if kind, _, err := mime.ParseMediaType(a.kind); err != nil || kind != "application/json" {
		return fmt.Errorf("the endpoint answered the content type %q instead of application/json", a.kind)
	}
	if !json.Valid(a.body) {
		return errors.New("the endpoint's answer is not valid JSON")
	}
	return nil
}

// send signs a payload and posts it to an endpoint, with a signature that does not verify
// if forged. An error says that no answer came in time. The caller does not hold the lock.
func (s *Server) send(ctx context.Context, endpoint string, payload []byte, forged bool) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(payload))
	if err != nil {
		return reply{}, err
	}
	s.mu.Lock()
	key := s.world.key()
	s.mu.Unlock()
	at := strconv.FormatInt(s.clock.Now().Unix(), 10)
	signature := ed25519.Sign(key, append([]byte(at), payload...))
	if forged {
		signature[0] ^= 1
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Discord-Interactions/1.0 (+https://discord.com)")
	req.Header.Set("X-Signature-Ed25519", hex.EncodeToString(signature))
	req.Header.Set("X-Signature-Timestamp", at)
	res, err := s.client.Do(req)
	if err == nil {
		defer res.Body.Close() //nolint:errcheck // it was only read
		var body []byte
		body, err = io.ReadAll(io.LimitReader(res.Body, maxBody))
		if err == nil {
			return reply{res.StatusCode, res.Header.Get("Content-Type"), body}, nil
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return reply{}, fmt.Errorf("the endpoint did not answer within %v", answerWithin)
	}
	return reply{}, fmt.Errorf("the endpoint did not answer: %w", err)
}

// probe tries an endpoint as Discord does before it accepts one: a PING must be answered
// with a PING, and one with a bad signature with 401. No endpoint needs no probe.
func (s *Server) probe(ctx context.Context, endpoint string) error {
	if endpoint == "" {
		return nil
	}
	if err := checkEndpoint(endpoint); err != nil {
		return err
	}
	s.mu.Lock()
	id := s.newID(s.clock.Now())
	s.mu.Unlock()
	ping, err := json.Marshal(map[string]any{
		"id": id, "application_id": BotID, "type": kindPing, "version": 1, "token": newToken(id), "entitlements": []any{},
		"user": person(BotID), "authorizing_integration_owners": map[string]string{},
	})
	if err != nil {
		return err
	}
	pong, err := s.send(ctx, endpoint, ping, false)
	if err == nil {
		err = pong.check()
	}
	if err != nil {
		return fmt.Errorf("a PING with a good signature: %w", err)
	}
	if !isPong(pong.body) {
		return fmt.Errorf("a PING with a good signature: the endpoint answered %.200s instead of {\"type\":1}", pong.body)
	}
	forged, err := s.send(ctx, endpoint, ping, true)
	if err == nil && forged.status != http.StatusUnauthorized {
		err = fmt.Errorf("the endpoint answered %d instead of 401", forged.status)
	}
	if err != nil {
		return fmt.Errorf("a PING with a bad signature: %w", err)
	}
	return nil
}
