import type { Observation } from '../../purchases/observation.ts';
import { withoutClawbackEnd } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { StoreContext } from '../store-context.ts';
import { withConsumedOrders } from './fulfill.ts';
import { withKnownPeriod } from './known-period.ts';
import type { ObservedItem } from './lookup.ts';
import { parseTimestamp } from './payloads.ts';

/**
 * Adds what stored data shows and a query does not: changes of the renewal intent, moved ends, consumed orders, and
 * clawback events.
 */
export const withStoredFacts = async (items: readonly ObservedItem[], context: StoreContext): Promise<Observation[]> =>
  await Promise.all(
    items.map(async (item) => {
      const withChange = await withIntentChange(item, context);
      const complete = await withConsumedOrders(await withKnownPeriod(withChange, context), context);
      return await withClawbacks(complete, context);
    }),
  );

/**
 * Adds the date on which the customer enabled auto-renewal again. Microsoft then removes the date of the cancellation,
 * so the date is the last modification.
 */
async function withIntentChange(
  { observation, nativeTransaction }: ObservedItem,
  { findPurchase }: Pick<StoreContext, 'findPurchase'>,
): Promise<Observation> {
  const { purchase, asOf } = observation;
  if (purchase.renewalIntent !== 'Renew') return observation;
  const stored = await findPurchase?.(purchase.purchaseId);
  // A clawback event is not a choice of the customer.
  if (!stored || withoutClawbackEnd(stored).renewalIntent !== 'Lapse') return observation;
  const { lastModified } = nativeTransaction;
  const modifiedAt = typeof lastModified === 'string' ? parseTimestamp(lastModified) : undefined;
  return { ...observation, purchase: { ...purchase, renewalIntentChangeDate: modifiedAt ?? asOf } };
}

async function withClawbacks(
  observation: Observation,
  { listTransactions }: Pick<StoreContext, 'listTransactions'>,
): Promise<Observation> {
  const stored = (await listTransactions?.(observation.purchase.purchaseId)) ?? [];
  const transactions = observation.transactions.map((transaction) => {
    const known = stored.find(({ transactionId }) => transactionId === transaction.transactionId);
    const isClawedBack = known?.clawbacks !== undefined || known?.refundedAt !== undefined;
    return isClawedBack ? { ...transaction, clawbacks: getClawbacks(known) } : transaction;
  });
  return { ...observation, transactions };
}

/** Returns the clawback events of a stored payment. An earlier build has stored a refund without its event. */
export const getClawbacks = ({ refundedAt: date, clawbacks }: Transaction): NonNullable<Transaction['clawbacks']> =>
  clawbacks ?? (date === undefined ? {} : { earlier: { date, endsAccess: true } });
