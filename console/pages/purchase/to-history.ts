import { creditEntryTexts } from '../../../lib/api/credit-texts.ts';
import { describeReason } from '../../../lib/api/webhook-texts.ts';
import type { PurchaseNotification } from '../../../lib/purchases/purchase-contract.ts';
import type { TimelineRecord } from '../../../lib/purchases/timeline-contract.ts';
import type { TransactionRecord } from '../../../lib/purchases/transaction-contract.ts';
import { formatDate, formatMoney, formatProductId } from '../../format.ts';
import { describeEventType } from '../event-types.ts';
import { describeNotification } from '../store-notification-types.ts';

/** Kinds of entries, by which a timeline can be filtered. */
export const historyKinds = [
  ['lifecycle', 'Lifecycle'],
  ['payment', 'Payments'],
  ['request', 'Validations and claims'],
  ['notification', 'Store notifications'],
  ['webhook', 'Webhooks'],
  ['credit', 'Credits'],
] as const;
type HistoryKind = (typeof historyKinds)[number][0];

type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info';

/** What happened to a purchase or a customer. */
export interface HistoryEntry {
  readonly id: string;
  readonly kind: HistoryKind;
  /** ISO 8601. */
  readonly date: string;
  readonly title: string;
  readonly detail?: string;
  readonly tone: Tone;
  /** The event in the log that has the details. */
  readonly eventId?: string;
  /** Set for an attempt of a webhook. */
  readonly deliveryId?: string;
  readonly purchaseId?: string;
  /** Set for a refresh that found no change. */
  readonly isUnchanged?: true;
}

/** Lifecycle of one purchase of a customer. */
export interface PurchaseLifecycle {
  readonly purchaseId: string;
  readonly productId: string;
  readonly notifications?: readonly PurchaseNotification[];
}

/** Converts the rows of a timeline and the lifecycle of purchases to entries, newest first, each once. */
export function toHistory(
  rows: readonly TimelineRecord[],
  lifecycles: readonly PurchaseLifecycle[] = [],
): HistoryEntry[] {
  const entries = [...rows.flatMap(toEntries), ...lifecycles.flatMap(toLifecycleEntries)];
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return [...byId.values()].sort((a, b) => Date.parse(b.date) - Date.parse(a.date) || (a.id < b.id ? -1 : 1));
}

/** Returns an id of a row at its position. A claim that is repeated is a new row. */
export function getTimelineRowId(row: TimelineRecord): string {
  const { type, date } = row;
  switch (type) {
    case 'payment':
      return JSON.stringify([type, date, row.transaction.purchaseId, row.transaction.transactionId]);
    case 'notification':
      return JSON.stringify([type, date, row.reason]);
    case 'claim':
      return JSON.stringify([type, date, row.applicationUsername]);
    case 'event':
      return JSON.stringify([type, date, row.eventId]);
    case 'credit':
      return JSON.stringify([type, date, row.id]);
  }
}

function toEntries(row: TimelineRecord): HistoryEntry[] {
  switch (row.type) {
    case 'payment':
      return toPaymentEntries(row.transaction);
    case 'notification':
      return [toLifecycleEntry(row)];
    case 'claim':
      return [
        {
          id: `claim ${row.applicationUsername} ${row.date}`,
          kind: 'request',
          date: row.date,
          title: `${row.applicationUsername} ${claimSources[row.source]}`,
          tone: 'info',
        },
      ];
    case 'event':
      return [toEventEntry(row)];
    case 'credit':
      return [toCreditEntry(row)];
  }
}

const claimSources = {
  validation: 'claimed it with a receipt',
  alias: 'claimed it: the store names this customer',
  manual: 'was linked to it manually',
} as const;

/** Title and tone of a lifecycle reason of the specification. */
const reasons: Readonly<Record<string, readonly [title: string, tone: Tone]>> = {
  PURCHASED: ['Purchased', 'good'],
  RENEWED: ['Renewed', 'good'],
  EXPIRED: ['Expired', 'bad'],
  REVOKED: ['Access revoked', 'bad'],
  REFUNDED: ['Refunded', 'bad'],
  PAUSED: ['Paused', 'warn'],
  ENTERED_GRACE_PERIOD: ['Payment failed: the grace period began', 'warn'],
  WILL_LAPSE: ['Canceled: will not renew', 'warn'],
  WILL_AUTO_RENEW: ['Cancelation withdrawn: will renew', 'good'],
  EXTENDED: ['Extended', 'good'],
  PLAN_CHANGED: ['Plan changed', 'info'],
  PRICE_CHANGE_UPDATED: ['Notified of a price increase', 'warn'],
  PRICE_CHANGE_CONFIRMED: ['Agreed to the price increase', 'good'],
  ACKNOWLEDGED: ['Acknowledged at the store', 'neutral'],
};

function toLifecycleEntry({ date, reason }: PurchaseNotification, scope = ''): HistoryEntry {
  const [title, tone] = reasons[reason] ?? [reason, 'neutral'];
  return { id: `lifecycle ${scope}${date} ${reason}`, kind: 'lifecycle', date, title, tone };
}

const toLifecycleEntries = ({ purchaseId, productId, notifications = [] }: PurchaseLifecycle): HistoryEntry[] =>
  notifications.map((notification) => ({
    ...toLifecycleEntry(notification, `${purchaseId} `),
    detail: formatProductId(productId),
    purchaseId,
  }));

/** Returns the payment of a transaction, and its refund. */
function toPaymentEntries(transaction: TransactionRecord): HistoryEntry[] {
  const { transactionId, purchaseId, purchaseDate, expirationDate, refundDate } = transaction;
  const product = formatProductId(transaction.productId);
  const common = { kind: 'payment', purchaseId } as const;
  // Purchases of one order share the id of the transaction.
  const id = `${purchaseId} ${transactionId}`;
  const payment: HistoryEntry = {
    ...common,
    id: `payment ${id}`,
    date: purchaseDate,
    title: describePayment(transaction),
    detail: expirationDate === undefined ? product : `${product}, until ${formatDate(new Date(expirationDate))}`,
    tone: 'neutral',
  };
  if (refundDate === undefined) return [payment];
  const refunded = toAmount(transaction.refundedAmountMicros, transaction) ?? 'the payment';
  const title = `Returned ${refunded}`;
  return [payment, { ...common, id: `refund ${id}`, date: refundDate, title, detail: product, tone: 'bad' }];
}

function describePayment(transaction: TransactionRecord): string {
  const amount = toAmount(transaction.amountMicros, transaction);
  if (transaction.isPending) return amount === undefined ? 'Payment pending' : `Payment of ${amount} pending`;
  if (transaction.isTrialPeriod && !transaction.amountMicros) return 'Free trial began';
  return amount === undefined ? 'Paid, amount unknown' : `Paid ${amount}`;
}

const toAmount = (
  micros: number | null | undefined,
  { currency }: Pick<TransactionRecord, 'currency'>,
): string | undefined =>
  micros === null || micros === undefined || !currency ? undefined : formatMoney(micros, currency);

const creditTexts: Readonly<Record<string, string>> = creditEntryTexts;

const toCreditEntry = ({
  id,
  date,
  change,
  amount,
  credit,
  balance,
  isSandbox,
  reason,
  purchaseId,
}: Extract<TimelineRecord, { type: 'credit' }>): HistoryEntry => ({
  id,
  kind: 'credit',
  date,
  title: `${amount} ${credit} ${creditTexts[change] ?? change}`,
  detail: `${reason === undefined ? '' : `${reason}, `}balance ${balance}${isSandbox ? ' (sandbox)' : ''}`,
  tone: change === 'taken-back' || change === 'expired' ? 'warn' : 'neutral',
  ...(purchaseId !== undefined && { purchaseId }),
});

type EventRow = Extract<TimelineRecord, { type: 'event' }>;

function toEventEntry(event: EventRow): HistoryEntry {
  const { eventId, deliveryId, date, ok, message, notificationType: type, productIds = [], purchaseIds = [] } = event;
  const [purchaseId] = purchaseIds;
  const reasons = (event.reasons ?? []).map((reason) => describeReason({ type, notification: { reason } }));
  const detail = ok ? [...reasons, ...productIds.map(formatProductId)].join(', ') : `Failed: ${message}`;
  return {
    ...describeEvent(event),
    id: eventId,
    date,
    tone: ok ? 'neutral' : 'bad',
    eventId,
    ...(deliveryId !== undefined && { deliveryId }),
    ...(detail !== '' && { detail }),
    ...(purchaseId !== undefined && { purchaseId }),
    ...(isUnchangedRefresh(event) && { isUnchanged: true }),
  };
}

/** Returns whether the event is a refresh without a change, like most of them. */
const isUnchangedRefresh = ({ eventType, ok, reasons = [] }: EventRow): boolean =>
  eventType === 'receipt.refreshed' && ok && reasons.length === 0;

function describeEvent({
  eventType,
  ok,
  applicationUsername: user,
  notificationType = '',
}: EventRow): Pick<HistoryEntry, 'kind' | 'title'> {
  const [, source] = /^webhook\.(\w+)\./.exec(eventType) ?? [];
  if (source === 'app') return { kind: 'webhook', title: `Webhook to the server of the app ${ok ? 'sent' : 'failed'}` };
  if (source !== undefined) return { kind: 'notification', title: describeNotification(source, notificationType) };
  const title = eventType === 'receipt.refreshed' ? 'Refreshed at the store' : describeEventType(eventType);
  return { kind: 'request', title: user === undefined ? title : `${title} for ${user}` };
}
