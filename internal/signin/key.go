package signin

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"questscheduler/internal/config/keyfile"
)

const pemType = "PRIVATE KEY"

// Key signs and verifies the tokens of Local. It cannot be printed.
type Key struct {
	private func() ed25519.PrivateKey // a function prints as an address
}

// LoadOrCreateKey reads the signing key at path (PEM, PKCS #8, Ed25519), or makes
// one if there is no file. It refuses a file that is not open to its owner alone.
// Removing the file ends all tokens.
func LoadOrCreateKey(path string) (Key, error) {
	text, err := keyfile.LoadOrCreate(path, generate)
	if err != nil {
		return Key{}, err
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != pemType || len(rest) > 0 {
		return Key{}, fmt.Errorf("%s: %w", path, errNoKey)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return Key{}, fmt.Errorf("%s: %w", path, errNoKey)
	}
	return Key{private: func() ed25519.PrivateKey { return private }}, nil
}

var errNoKey = errors.New("the file of the sign-in key holds no Ed25519 key in PEM; remove it to have a new one made, which " +
	"ends all tokens")

// NewKey makes a key that is not stored, for tests and simulations.
func NewKey() (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return Key{private: func() ed25519.PrivateKey { return private }}, err
}

func generate() ([]byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), err
}
