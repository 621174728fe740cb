// Verifies the tokens of a file with golang-jwt and prints whether each one is valid.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

type jwk struct {
	Kid string `json:"kid"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

type check struct {
	Token    string `json:"token"`
	Audience string `json:"audience"`
	Issuer   string `json:"issuer"`
	Keys     []jwk  `json:"keys"`
}

func decode(text string) *big.Int {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return new(big.Int).SetBytes(bytes)
}

func isValid(c check) bool {
	findKey := func(token *jwt.Token) (any, error) {
		if token.Header["typ"] != "entitlements+jwt" {
			return nil, fmt.Errorf("unexpected type")
		}
		for _, key := range c.Keys {
			if key.Kid == token.Header["kid"] {
				return &ecdsa.PublicKey{Curve: elliptic.P256(), X: decode(key.X), Y: decode(key.Y)}, nil
			}
		}
		return nil, fmt.Errorf("unknown key")
	}
	token, err := jwt.Parse(c.Token, findKey,
		jwt.WithValidMethods([]string{"ES256"}),
		jwt.WithAudience(c.Audience),
		jwt.WithIssuer(c.Issuer),
		jwt.WithExpirationRequired())
	return err == nil && token.Valid
}

func main() {
	content, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var checks []check
	if err := json.Unmarshal(content, &checks); err != nil {
		panic(err)
	}
	results := []bool{}
	for _, c := range checks {
		results = append(results, isValid(c))
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
