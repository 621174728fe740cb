import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { dayMs, secondMs } from '../../lib/foundation/time.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';

/** Purchase date of `givenPaidPurchase`: three days ago in whole seconds, as epoch milliseconds. */
export const paidAt = Math.floor(Date.now() / secondMs) * secondMs - 3 * dayMs;

/** UTC day of `paidAt`, `YYYY-MM-DD`. */
export const paidDay = new Date(paidAt).toISOString().slice(0, 10);

/** Records an active subscription `store_a:1` of a customer, with one transaction of `paidAt`. */
export async function givenPaidPurchase(
  { appName }: IssuedApiKeys,
  username: string,
  amountMicros = 4_990_000,
): Promise<void> {
  const { purchase } = createObservation({ purchaseDate: paidAt, expirationDate: paidAt + 30 * dayMs });
  const transactions = [createTransaction(purchase, { amountMicros })];
  await givenPurchase(appName, username, { asOf: paidAt, purchase, transactions, userAliases: [] });
}
