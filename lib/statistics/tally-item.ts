import * as v from 'valibot';
import { toUtcDay } from '../money/daily-rates.ts';
import { toAmountUsd } from '../money/usd-amount.ts';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import { listRefundedAmounts, type RefundedAmount } from '../purchases/refunds.ts';
import { Transaction } from '../purchases/transaction.ts';
import { parse } from '../shared/parse.ts';
import type { StoredItem } from '../shared/stream-record.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toCountedCurrency } from './counted-currency.ts';
import { addTally, type ListKind, type Tally } from './tally.ts';
import { type ProductTally, tallyProductItem } from './tally-product.ts';

/** Tallies by UTC day (`YYYY-MM-DD`). */
export type DailyTallies = ReadonlyMap<string, Tally>;

const noTallies: DailyTallies = new Map();

const CreatedItem = v.object({ createdAt: v.number() });
const TransactionItem = v.object({ transaction: Transaction });
const NotificationItem = v.object({ date: v.number(), reason: NotificationReason });
const EventItem = v.object({ date: v.number(), type: v.string() });

/** The contribution of an item to the tallies of its app and its products. */
export interface ItemTallies {
  readonly days: DailyTallies;
  readonly products: readonly ProductTally[];
}

/** Returns the contribution of an item to the tallies. Depends only on the item, not on the current time. */
export function tallyStoredItem(stored: StoredItem): ItemTallies {
  const products = tallyProductItem(stored);
  return { days: sumDailyTallies(tallyItem(stored), ...products.map(tallyPlatform)), products };
}

/** Returns the contribution to the sums of the platform, which are in the tallies of the app under its name. */
const tallyPlatform = ({ platform, day, tally }: ProductTally): DailyTallies =>
  new Map([[day, Object.fromEntries(Object.entries(tally).map(([name, value]) => [`${platform}/${name}`, value]))]]);

function tallyItem({ kind, item }: StoredItem): DailyTallies {
  switch (kind) {
    case 'purchase':
      return tallyCreation('P', parse(CreatedItem, item, 'DatabaseError').createdAt);
    case 'customer':
      return tallyCreation('C', parse(CreatedItem, item, 'DatabaseError').createdAt);
    case 'transaction':
      return tallyTransaction(parse(TransactionItem, item, 'DatabaseError').transaction);
    case 'notification':
      return tallyNotification(parse(NotificationItem, item, 'DatabaseError'));
    case 'event':
      return tallyEvent(parse(EventItem, item, 'DatabaseError'));
    default:
      return noTallies;
  }
}

const buildForDay = (date: EpochMillis, tally: Tally): DailyTallies => new Map([[toUtcDay(date), tally]]);
const tallyRow = (list: ListKind, date: EpochMillis): Tally => ({
  [`${list}.${new Date(date).getUTCHours()}`]: 1,
});
const tallyCreation = (list: ListKind, date: EpochMillis): DailyTallies => buildForDay(date, tallyRow(list, date));

/**
 * Counts a payment on the day of the purchase and each refund on its own day, so the amounts of past days do not change. A sandbox transaction counts as a transaction, but neither as paid nor with its amount.
 */
function tallyTransaction(transaction: Transaction): DailyTallies {
  const { purchaseDate, sandbox } = transaction;
  const payment = buildForDay(purchaseDate, {
    ...tallyRow('T', purchaseDate),
    transactions: 1,
    ...(!sandbox && tallyPayment(transaction)),
  });
  if (sandbox) return payment;
  const refunds = listRefundedAmounts(transaction).map((refund) => tallyRefund(transaction, refund));
  return sumDailyTallies(payment, ...refunds);
}

function tallyRefund(transaction: Transaction, { date, amountMicros, amountUsd }: RefundedAmount): DailyTallies {
  const currency = toCountedCurrency(transaction);
  if (currency === undefined || !amountMicros) return noTallies;
  return buildForDay(date, negate(toAmountTally(currency, amountMicros, amountUsd)));
}

function tallyPayment(transaction: Transaction): Tally {
  const isPaid = (transaction.amountMicros ?? 0) > 0;
  const currency = toCountedCurrency(transaction);
  return {
    ...(isPaid && { paid: 1 }),
    ...(currency !== undefined && { [`${currency}.transactions`]: 1, ...(isPaid && { [`${currency}.paid`]: 1 }) }),
    ...tallyAmount(transaction),
  };
}

function tallyAmount(transaction: Transaction): Tally {
  const { amountMicros } = transaction;
  const currency = toCountedCurrency(transaction);
  if (currency === undefined || !amountMicros) return {};
  return toAmountTally(currency, amountMicros, toAmountUsd(transaction) ?? undefined);
}

const toAmountTally = (currency: string, amountMicros: number, amountUsd: number | undefined): Tally => ({
  [`${currency}.micros`]: amountMicros,
  ...(amountUsd !== undefined && { [`${currency}.usd`]: Math.round(amountUsd * 1_000_000) }),
});

const negate = (tally: Tally): Tally => addTally({}, tally, -1);

const tallyNotification = ({ date, reason }: v.InferOutput<typeof NotificationItem>): DailyTallies =>
  buildForDay(date, { [`N.${reason}`]: 1 });

/** The events of scheduled and background work, which do not count as requests. */
const workerEventTypes = new Set([
  ...['webhook.app.called', 'receipt.refreshed', 'notifications.reconciled', 'purchase.imported'],
]);

const tallyEvent = ({ date, type }: v.InferOutput<typeof EventItem>): DailyTallies =>
  workerEventTypes.has(type) ? noTallies : buildForDay(date, { requests: 1 });

export function sumDailyTallies(...all: readonly DailyTallies[]): DailyTallies {
  const sums = new Map<string, Tally>();
  for (const [day, tally] of all.flatMap((tallies) => [...tallies]))
    sums.set(day, addTally(sums.get(day) ?? {}, tally));
  return sums;
}

export const subtractDailyTallies = (minuend: DailyTallies, subtrahend: DailyTallies): DailyTallies =>
  sumDailyTallies(minuend, new Map([...subtrahend].map(([day, tally]) => [day, negate(tally)])));
