// Makes the calls of the README with the generated client: validate a receipt, then read the purchases of the customer.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func connect(key string) *ClientWithResponses {
	authenticate := func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(os.Getenv("APP"), os.Getenv(key))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("API"), WithRequestEditorFn(authenticate))
	check(err)
	return client
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	var receipt struct {
		ID          string                   `json:"id"`
		Type        ValidationRequestType    `json:"type"`
		Transaction AppStoreTransactionBrand `json:"transaction"`
	}
	check(json.Unmarshal([]byte(os.Getenv("RECEIPT")), &receipt))
	username := "go"
	body := ValidationRequest{
		Id:             receipt.ID,
		Type:           receipt.Type,
		AdditionalData: &AdditionalData{ApplicationUsername: &username},
	}
	check(body.Transaction.FromAppStoreTransactionBrand(AppStoreTransactionBrand{
		JwsRepresentation: receipt.Transaction.JwsRepresentation,
	}))
	ctx := context.Background()
	validated, err := connect("PUBLIC").ValidateReceiptWithResponse(ctx, body)
	check(err)
	success, err := validated.JSON200.AsValidationSuccess()
	check(err)
	purchase := success.Data.Collection[0]
	if purchase.Id != "go" || (purchase.IsExpired != nil && *purchase.IsExpired) {
		log.Fatal(string(validated.Body))
	}
	read, err := connect("SECRET").GetCustomerPurchasesWithResponse(ctx, "go")
	check(err)
	if read.JSON200.Purchases["store_a:go"].PurchaseId != "store_a:"+purchase.PurchaseId {
		log.Fatal(string(read.Body))
	}
	none := 0
	wrong, err := connect("SECRET").ListPurchasesWithResponse(ctx, &ListPurchasesParams{Limit: &none})
	check(err)
	if wrong.JSON400 == nil || wrong.JSON400.Code != "InvalidPayload" {
		log.Fatal(string(wrong.Body))
	}
	fmt.Println("The Go client validated a receipt and read the purchases.")
}
