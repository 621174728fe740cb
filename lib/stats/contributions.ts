import * as v from 'valibot';
import { amountUSD } from '../money/amount.ts';
import { NotificationReason } from '../notifications/reasons.ts';
import { parse } from '../parse.ts';
import type { Millis } from '../purchases/purchase.ts';
import { Transaction } from '../transactions/transaction.ts';
import { added, type Collection, type Tally } from './tally.ts';

/** What an item of the table adds to the tallies of days, by day (`YYYY-MM-DD`, UTC). */
export type Contributions = ReadonlyMap<string, Tally>;

/** An item of the table, or an image of it in the stream. */
export type Counted = Readonly<Record<string, unknown>> & { readonly pk: string; readonly sk: string };

const none: Contributions = new Map();

/** The day of a moment. */
export const dayOf = (date: Millis): string => new Date(date).toISOString().slice(0, 10);

const Created = v.object({ createdAt: v.number() });
const Noted = v.object({ date: v.number(), reason: NotificationReason });
const Requested = v.object({ date: v.number(), type: v.string() });

/** What an item adds; of most kinds nothing. The same for the same content, whenever it is asked. */
export function contributionsOf(item: Counted): Contributions {
  const kind = item.pk.split('#', 2)[1];
  if (kind === 'P' && item.sk === 'P') return row('P', parse(Created, item, 'DatabaseError').createdAt);
  if (kind === 'C' && item.sk === 'C') return row('C', parse(Created, item, 'DatabaseError').createdAt);
  if (kind === 'P' && item.sk.startsWith('T#'))
    return ofTransaction(parse(Transaction, item.transaction, 'DatabaseError'));
  if (kind === 'P' && item.sk.startsWith('N#')) return ofNotification(parse(Noted, item, 'DatabaseError'));
  if (kind === 'E' && item.sk === 'E') return ofEvent(parse(Requested, item, 'DatabaseError'));
  return none;
}

const on = (date: Millis, tally: Tally): Contributions => new Map([[dayOf(date), tally]]);
const rowTally = (collection: Collection, date: Millis): Tally => ({
  [`${collection}.${new Date(date).getUTCHours()}`]: 1,
});
const row = (collection: Collection, date: Millis): Contributions => on(date, rowTally(collection, date));

/**
 * A payment counts on the day of the purchase, money given back on the day of the refund: a past day does not change. What
 * was bought in a sandbox is a transaction, but no money and not paid.
 */
function ofTransaction(transaction: Transaction): Contributions {
  const { purchaseDate, refundedAt, sandbox } = transaction;
  const bought = on(purchaseDate, {
    ...rowTally('T', purchaseDate),
    transactions: 1,
    ...(!sandbox && paid(transaction)),
  });
  if (refundedAt === undefined || sandbox) return bought;
  return summed(bought, on(refundedAt, negative(money(transaction))));
}

function paid(transaction: Transaction): Tally {
  const isPaid = (transaction.amountMicros ?? 0) > 0;
  const currency = shownCurrency(transaction);
  return {
    ...(isPaid && { paid: 1 }),
    ...(currency !== undefined && { [`${currency}.transactions`]: 1, ...(isPaid && { [`${currency}.paid`]: 1 }) }),
    ...money(transaction),
  };
}

function money(transaction: Transaction): Tally {
  const { amountMicros } = transaction;
  const currency = shownCurrency(transaction);
  if (currency === undefined || !amountMicros) return {};
  const usd = amountUSD(transaction);
  return {
    [`${currency}.micros`]: amountMicros,
    ...(usd !== null && { [`${currency}.usd`]: Math.round(usd * 1_000_000) }),
  };
}

/** Clients report currencies: those that exist are few, so that a counter stays small; of any other it is `XXX`. */
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const shownCurrency = ({ currency }: Transaction): string | undefined =>
  currency === undefined || currencies.has(currency) ? currency : 'XXX';

const negative = (tally: Tally): Tally => added({}, tally, -1);

const ofNotification = ({ date, reason }: v.InferOutput<typeof Noted>): Contributions =>
  on(date, { [`N.${reason}`]: 1 });

/** Work that the service does by itself is recorded too, and is no request. */
const ofEvent = ({ date, type }: v.InferOutput<typeof Requested>): Contributions =>
  type === 'webhook.app.called' || type === 'receipt.refreshed' || type === 'notifications.reconciled'
    ? none
    : on(date, { requests: 1 });

/** What several add together. */
export function summed(...all: readonly Contributions[]): Contributions {
  const sums = new Map<string, Tally>();
  for (const [day, tally] of all.flatMap((one) => [...one])) sums.set(day, added(sums.get(day) ?? {}, tally));
  return sums;
}

/** What remains of the first without the second. */
export const without = (one: Contributions, other: Contributions): Contributions =>
  summed(one, new Map([...other].map(([day, tally]) => [day, negative(tally)])));
