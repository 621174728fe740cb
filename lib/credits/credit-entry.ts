import * as v from 'valibot';
import { creditEntryTexts } from '../api/credit-texts.ts';
import { GrantingKey, OptionalNumber, OptionalText, OptionalTrue } from '../api/schemas.ts';

/**
 * Why the credits of a customer have changed.
 *
 * - `given`: by a payment, or as a gift. `taken`: by hand.
 * - `spent`: by the app. `held`: reserved. `captured` and `released`: the end of a hold, with the units that stay spent
 *   or were returned.
 * - `expired`: the end of units.
 * - `taken-back`: for a refund. `returned`: the refund was reversed.
 * - `received` and `moved`: to this customer, and to another one.
 */
export const creditEntryTypes = Object.keys(creditEntryTexts) as (keyof typeof creditEntryTexts)[];

/** A change of a customer's credits. Stored for good, because balances follow from it. */
export const CreditEntry = v.object({
  entryId: v.string(),
  username: v.string(),
  isSandbox: v.boolean(),
  at: v.number(),
  type: v.picklist(creditEntryTypes),
  credit: v.string(),
  amount: v.number(),
  /** The balance after the change. */
  balance: v.number(),
  /** The payment that causes the entry. */
  transactionId: OptionalText,
  purchaseId: OptionalText,
  reason: OptionalText,
  key: v.exactOptional(GrantingKey),
  holdId: OptionalText,
  until: OptionalNumber,
  expiresAt: OptionalNumber,
  /** The event of the request, or of the change of the purchase. */
  eventId: OptionalText,
  /** Digest of the request. The same idempotency key with another digest is a conflict. */
  digest: OptionalText,
  /** The balance did not suffice. Stored for repetitions of the request. */
  isRefused: OptionalTrue,
  /** Another customer has the units, and another entry. Stored for repetitions of the request. */
  isForwarded: OptionalTrue,
});
export type CreditEntry = v.InferOutput<typeof CreditEntry>;
