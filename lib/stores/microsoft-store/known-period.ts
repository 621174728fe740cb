import * as v from 'valibot';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { StoreContext } from '../store-context.ts';
import { getPeriodMs, getToleranceMs } from './period-start.ts';

type StoredData = Pick<StoreContext, 'findPurchase' | 'listTransactions' | 'storedResults'>;

/** The store offers no shorter billing period than a month. */
const minPeriodMs = 28 * dayMs;

const Extension = v.object({ until: v.number() });
const toExtensionKey = (purchaseId: string): string => `extension#${purchaseId}`;

/** Stores the end to which an action has extended a period, which can be as long as a renewal. */
export async function saveExtension(
  purchaseId: string,
  until: EpochMillis,
  { storedResults }: Pick<StoreContext, 'storedResults'>,
): Promise<void> {
  await storedResults?.save(toExtensionKey(purchaseId), { until });
}

/**
 * Keeps the stored period of a subscription if an extension or an early end moved its end. Microsoft reports neither
 * the start of a period nor its payment. A renewal adds a whole billing period.
 */
export async function withKnownPeriod(observation: Observation, storedData: StoredData): Promise<Observation> {
  const { purchase, transactions } = observation;
  const [payment] = transactions;
  if (purchase.productType !== 'paid subscription' || !payment) return observation;
  const stored = await storedData.findPurchase?.(purchase.purchaseId);
  if (!stored || stored.transactionId === payment.transactionId) return observation;
  const payments = (await storedData.listTransactions?.(purchase.purchaseId)) ?? [];
  const known = payments.find(({ transactionId }) => transactionId === stored.transactionId);
  if (!known || !(await isSamePeriod(known, payment, { observation, storedData }))) return observation;
  const { transactionId, purchaseDate } = known;
  const { lastRenewalDate: _estimated, ...current } = purchase;
  return {
    ...observation,
    purchase: { ...current, transactionId, ...omitUndefined({ lastRenewalDate: stored.lastRenewalDate }) },
    transactions: [{ ...payment, transactionId, purchaseDate }],
  };
}

async function isSamePeriod(
  known: Transaction,
  { expirationDate: end, isTrialPeriod }: Transaction,
  { observation, storedData }: { readonly observation: Observation; readonly storedData: StoredData },
): Promise<boolean> {
  const { expirationDate: knownEnd } = known;
  if (end === undefined || knownEnd === undefined) return false;
  // The end of a trial is the first renewal, after any time.
  if (known.isTrialPeriod && !isTrialPeriod) return false;
  if (end < knownEnd) return end > known.purchaseDate;
  const period = observation.refreshToken?.period;
  const periodMs = period === undefined ? minPeriodMs : getPeriodMs(period);
  if (end - knownEnd < periodMs - getToleranceMs(periodMs)) return true;
  const extension = await storedData.storedResults?.find(toExtensionKey(observation.purchase.purchaseId));
  return v.is(Extension, extension) && extension.until === end;
}
