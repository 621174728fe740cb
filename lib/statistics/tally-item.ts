import * as v from 'valibot';
import { toAmountUsd } from '../money/usd-amount.ts';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import { Transaction } from '../purchases/transaction.ts';
import { parse } from '../shared/parse.ts';
import type { EpochMillis } from '../shared/time.ts';
import { addTally, type ListKind, type Tally } from './tally.ts';

/** What an item of the table adds to the tallies of days, by day (`YYYY-MM-DD`, UTC). */
export type DailyTallies = ReadonlyMap<string, Tally>;

/** An item of the table, or an image of it in the stream. */
export type CountableItem = Readonly<Record<string, unknown>> & { readonly pk: string; readonly sk: string };

const noTallies: DailyTallies = new Map();

/** The day of a moment. */
export const toUtcDay = (date: EpochMillis): string => new Date(date).toISOString().slice(0, 10);

const CreatedItem = v.object({ createdAt: v.number() });
const NotificationItem = v.object({ date: v.number(), reason: NotificationReason });
const EventItem = v.object({ date: v.number(), type: v.string() });

/** What an item adds; of most kinds nothing. The same for the same content, whenever it is asked. */
export function tallyItem(item: CountableItem): DailyTallies {
  const kind = item.pk.split('#', 2)[1];
  if (kind === 'P' && item.sk === 'P') return tallyCreation('P', parse(CreatedItem, item, 'DatabaseError').createdAt);
  if (kind === 'C' && item.sk === 'C') return tallyCreation('C', parse(CreatedItem, item, 'DatabaseError').createdAt);
  if (kind === 'P' && item.sk.startsWith('T#'))
    return tallyTransaction(parse(Transaction, item.transaction, 'DatabaseError'));
  if (kind === 'P' && item.sk.startsWith('N#'))
    return tallyNotification(parse(NotificationItem, item, 'DatabaseError'));
  if (kind === 'E' && item.sk === 'E') return tallyEvent(parse(EventItem, item, 'DatabaseError'));
  return noTallies;
}

const buildForDay = (date: EpochMillis, tally: Tally): DailyTallies => new Map([[toUtcDay(date), tally]]);
const tallyRow = (collection: ListKind, date: EpochMillis): Tally => ({
  [`${collection}.${new Date(date).getUTCHours()}`]: 1,
});
const tallyCreation = (collection: ListKind, date: EpochMillis): DailyTallies =>
  buildForDay(date, tallyRow(collection, date));

/**
 * A payment counts on the day of the purchase, money given back on the day of the refund: a past day does not change. What
 * was bought in a sandbox is a transaction, but no money and not paid.
 */
function tallyTransaction(transaction: Transaction): DailyTallies {
  const { purchaseDate, refundedAt, sandbox } = transaction;
  const bought = buildForDay(purchaseDate, {
    ...tallyRow('T', purchaseDate),
    transactions: 1,
    ...(!sandbox && tallyPayment(transaction)),
  });
  if (refundedAt === undefined || sandbox) return bought;
  return sumDailyTallies(bought, buildForDay(refundedAt, negate(tallyAmount(transaction))));
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
  const usd = toAmountUsd(transaction);
  return {
    [`${currency}.micros`]: amountMicros,
    ...(usd !== null && { [`${currency}.usd`]: Math.round(usd * 1_000_000) }),
  };
}

/** Clients report currencies: those that exist are few, so that a counter stays small; of any other it is `XXX`. */
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const toCountedCurrency = ({ currency }: Transaction): string | undefined =>
  currency === undefined || currencies.has(currency) ? currency : 'XXX';

const negate = (tally: Tally): Tally => addTally({}, tally, -1);

const tallyNotification = ({ date, reason }: v.InferOutput<typeof NotificationItem>): DailyTallies =>
  buildForDay(date, { [`N.${reason}`]: 1 });

/** Work that the service does by itself is recorded too, and is no request. */
const tallyEvent = ({ date, type }: v.InferOutput<typeof EventItem>): DailyTallies =>
  type === 'webhook.app.called' || type === 'receipt.refreshed' || type === 'notifications.reconciled'
    ? noTallies
    : buildForDay(date, { requests: 1 });

/** What several add together. */
export function sumDailyTallies(...all: readonly DailyTallies[]): DailyTallies {
  const sums = new Map<string, Tally>();
  for (const [day, tally] of all.flatMap((one) => [...one])) sums.set(day, addTally(sums.get(day) ?? {}, tally));
  return sums;
}

/** What remains of the first without the second. */
export const subtractDailyTallies = (one: DailyTallies, other: DailyTallies): DailyTallies =>
  sumDailyTallies(one, new Map([...other].map(([day, tally]) => [day, negate(tally)])));
