import Foundation
import StoreKit

/// The decision about a product. After `unchanged`, keep the current access and validate again later.
enum Access { case granted, denied, unchanged }

/// Codes that prove that a purchase gives no access.
let deniedCodes: Set<Int> = [6778001, 6778003, 6778004, 6778006]
/// Codes of a purchase that has ended: expired, refunded or consumed.
let endedCodes: Set<Int> = [6778003, 6778004]

struct ValidationResponse: Decodable {
    struct Content: Decodable { let collection: [Purchase]? }
    struct Purchase: Decodable { let id: String; let isExpired: Bool? }
    let ok: Bool
    let code: Int?
    let data: Content?
}

func decideAccess(_ response: ValidationResponse?, productId: String) -> Access {
    guard let response else { return .unchanged }
    if response.ok, let purchases = response.data?.collection {
        return purchases.contains { $0.id == productId && $0.isExpired != true } ? .granted : .denied
    }
    return deniedCodes.contains(response.code ?? 0) ? .denied : .unchanged
}

@MainActor
struct PurchaseObserver {
    let username: String
    /// Called on the main actor. Call `hasAccess` again, and show or hide what the product gives.
    let onChange: (_ productId: String) -> Void
    let apiUrl = URL(string: "https://api.example.com")!
    let credentials = Data("my-app:pub_key".utf8).base64EncodedString()

    /// Handles transactions that arrive outside of `buy`: renewals, refunds, approvals. Call it once at the start of the app.
    func listen() -> Task<Void, Never> {
        Task { for await result in Transaction.updates { await handle(result) } }
    }

    /// Returns the stored decision, which holds without a network.
    func hasAccess(_ productId: String) -> Bool { UserDefaults.standard.bool(forKey: key(productId)) }

    /// Validates the latest transaction of each product, also an expired or refunded one. Call it at each start of the app.
    func refresh(productIds: [String]) async {
        for productId in productIds {
            if let result = await Transaction.latest(for: productId) { await handle(result) }
        }
    }

    /// For a button "Restore purchases".
    func restore(productIds: [String]) async throws {
        try await AppStore.sync()
        await refresh(productIds: productIds)
    }

    func buy(_ product: Product, accountToken: UUID) async throws {
        let result: Product.PurchaseResult = try await product.purchase(options: [.appAccountToken(accountToken)])
        switch result {
        case .success(let verification): await handle(verification)
        case .pending: break // `Transaction.updates` delivers the transaction after the approval or the payment.
        case .userCancelled: break
        @unknown default: break
        }
    }

    private func handle(_ result: VerificationResult<Transaction>) async {
        // The service verifies the signature.
        let transaction = result.unsafePayloadValue
        let response = try? await validate(transaction, jwsRepresentation: result.jwsRepresentation)
        let access = decideAccess(response, productId: transaction.productID)
        if access != .unchanged { UserDefaults.standard.set(access == .granted, forKey: key(transaction.productID)) }
        onChange(transaction.productID)
        if let response, response.ok || endedCodes.contains(response.code ?? 0) { await transaction.finish() }
    }

    private func key(_ productId: String) -> String { "\(username) \(productId)" }

    /// Throws without a network, and if the response is not of the service.
    private func validate(_ transaction: Transaction, jwsRepresentation: String) async throws -> ValidationResponse {
        let types: [Product.ProductType: String] = [
            .autoRenewable: "paid subscription", .nonRenewable: "non renewing subscription",
            .consumable: "consumable", .nonConsumable: "non consumable",
        ]
        var request = URLRequest(url: apiUrl.appendingPathComponent("v1/validate"))
        request.httpMethod = "POST"
        request.setValue("Basic \(credentials)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONSerialization.data(withJSONObject: [
            "id": transaction.productID,
            "type": types[transaction.productType] ?? "paid subscription",
            "transaction": [
                "type": "store_a-signed",
                "id": transaction.productID,
                "jwsRepresentation": jwsRepresentation,
            ],
            "additionalData": ["applicationUsername": username],
        ] as [String: Any])
        let (data, _) = try await URLSession.shared.data(for: request)
        return try JSONDecoder().decode(ValidationResponse.self, from: data)
    }
}
