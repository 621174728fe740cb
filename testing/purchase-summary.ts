/** A purchase as `GET /control/purchases/{id}` of the emulator returns it, in the store's own terms. */
// biome-ignore lint/suspicious/noExplicitAny: each store has other members.
export type PurchaseSummary = Readonly<Record<string, any>>;
