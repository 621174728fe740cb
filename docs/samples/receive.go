package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type purchase struct {
	ProductID string `json:"productId"`
	IsExpired bool   `json:"isExpired"`
}

type event struct {
	Type                string              `json:"type"`
	ApplicationUsername string              `json:"applicationUsername"`
	Notification        struct{ Reason string } `json:"notification"`
	Purchases           map[string]purchase `json:"purchases"`
}

// verify returns an error if the signature is invalid or too old.
func verify(key []byte, header http.Header, body []byte) error {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return err
	}
	if age := time.Since(time.Unix(seconds, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return errors.New("the webhook is too old")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, received := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(expected), []byte(received)) {
			return nil
		}
	}
	return errors.New("the signature is invalid")
}

func save(e event) {
	active := []string{}
	for _, p := range e.Purchases {
		if !p.IsExpired {
			active = append(active, p.ProductID)
		}
	}
	fmt.Println(e.ApplicationUsername, e.Notification.Reason, strings.Join(active, ","))
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || verify(key, r.Header, body) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var e event
		if err := json.Unmarshal(body, &e); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		if e.Type == "purchases.updated" {
			save(e)
		}
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
