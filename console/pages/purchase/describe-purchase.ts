import type { CancelationReason } from '../../../lib/api/schemas.ts';
import type {
  PurchaseDetails,
  PurchaseNotification,
  PurchaseRecord,
} from '../../../lib/purchases/purchase-contract.ts';
import type { TransactionRecord } from '../../../lib/purchases/transaction-contract.ts';
import { formatDate, formatMoney, formatPlatform } from '../../format.ts';

/** A purchase of a customer, which does not list the owners, or a single purchase with them. */
export type DescribedPurchase = PurchaseRecord & Partial<Pick<PurchaseDetails, 'entitledUsers' | 'notifications'>>;

interface DescriptionContext {
  /** Time of the service, epoch milliseconds. */
  readonly now: number;
  /** Transactions of the purchase, which have its refunds. */
  readonly transactions?: readonly TransactionRecord[];
}

/** The state of a purchase in words. */
export interface PurchaseDescription {
  /** Two words for a badge. */
  readonly label: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'neutral' | 'info';
  readonly givesAccess: boolean;
  /** The state, its dates and its cause. */
  readonly headline: string;
  /** Further facts that support staff must know. */
  readonly remarks: readonly string[];
}

/** Describes the state of a purchase in sentences. Dates are in the viewer's time zone. */
export function describePurchase(purchase: DescribedPurchase, context: DescriptionContext): PurchaseDescription {
  const transactions = (context.transactions ?? []).filter(({ purchaseId }) => purchaseId === purchase.purchaseId);
  const state = describeState(purchase, transactions, context.now);
  const remarks = [
    describeOffer(purchase, state.givesAccess),
    describePriceIncrease(purchase, state.givesAccess),
    ...describeRefunds(purchase, transactions, state.label),
    state.givesAccess && describeAcknowledgement(purchase, context.now),
    purchase.isSharedPurchase && 'A family member shares this purchase.',
    describeOwners(purchase),
    purchase.sandbox && 'It is a sandbox purchase: no money was paid.',
  ];
  return { ...state, remarks: remarks.filter((remark) => typeof remark === 'string') };
}

type State = Omit<PurchaseDescription, 'remarks'>;

function describeState(purchase: DescribedPurchase, transactions: readonly TransactionRecord[], now: number): State {
  if (purchase.isPending) return describePending(purchase);
  if (purchase.isPaused) return describePaused(purchase);
  if (hasEnded(purchase, now)) return describeEnd(purchase, transactions, now);
  if (purchase.isConsumed)
    return noAccess('Consumed', 'neutral', `Bought${on(purchase.purchaseDate)} and consumed: it can be bought again.`);
  if (purchase.expirationDate === undefined && purchase.isExpired === undefined)
    return access('Owned', 'good', `Bought${on(purchase.purchaseDate)}: access does not end.`);
  return describeSubscription(purchase, now);
}

// The service decides. It does not report an expiration for a product that is not a subscription.
const hasEnded = ({ isExpired, expirationDate }: PurchaseRecord, now: number): boolean =>
  isExpired ?? (expirationDate !== undefined && Date.parse(expirationDate) <= now);

const describePending = ({ purchaseDate, platform }: PurchaseRecord): State =>
  noAccess(
    'Payment pending',
    'warn',
    `The first payment${purchaseDate === undefined ? '' : `, started${on(purchaseDate)},`} is pending: access begins when ${formatPlatform(platform)} reports that it is complete.`,
  );

const describePaused = ({ autoResumeDate }: PurchaseRecord): State =>
  noAccess(
    'Paused',
    'warn',
    autoResumeDate === undefined
      ? 'The customer paused the subscription, without a date on which it resumes.'
      : `The customer paused the subscription until ${formatIso(autoResumeDate)}: then it resumes and is paid again.`,
  );

function describeEnd(purchase: DescribedPurchase, transactions: readonly TransactionRecord[], now: number): State {
  const { expirationDate, cancelationReason } = purchase;
  const payment = transactions.find(({ transactionId }) => transactionId === purchase.transactionId);
  const lastEnd = findLastEnd(purchase);
  // The payments arrive later than the purchase, or not at all.
  const isRefunded = payment ? isRefundedInFull(payment) : lastEnd?.reason === 'REFUNDED';
  if (isRefunded)
    return noAccess(
      'Refunded',
      'bad',
      `Refunded${on(payment?.refundDate ?? lastEnd?.date)}: access ended${on(expirationDate)}.`,
    );
  if (lastEnd?.reason === 'REVOKED')
    return noAccess('Revoked', 'bad', `The store revoked access${on(expirationDate)}${toCause(cancelationReason)}.`);
  if (purchase.isBillingRetryPeriod)
    return noAccess(
      'Billing retry',
      'bad',
      `${describeFailures(purchase)}, and access ended${on(expirationDate)}: the store retries the payment.`,
    );
  if (cancelationReason === 'System.Replaced')
    return noAccess('Replaced', 'neutral', `Another plan replaced this purchase${on(expirationDate)}.`);
  // An end in the future or without a date: only a purchase that was never paid has it.
  if (expirationDate === undefined || Date.parse(expirationDate) > now)
    return noAccess('Never paid', 'neutral', 'The first payment was not completed: the purchase never gave access.');
  const unverified = purchase.unverifiedSince === undefined ? '' : ' Since then, the store could not be queried.';
  return noAccess('Expired', 'bad', `Expired${on(expirationDate)}${toCause(cancelationReason)}.${unverified}`);
}

function describeSubscription(purchase: DescribedPurchase, now: number): State {
  const { expirationDate, renewalIntent, renewalIntentChangeDate } = purchase;
  if (expirationDate === undefined)
    return access('Active', 'good', 'Active: the store does not report when the period ends.');
  const end = formatIso(expirationDate);
  const isOverdue = Date.parse(expirationDate) <= now;
  if (purchase.unverifiedSince !== undefined)
    return access(
      'Not verified',
      'warn',
      `Renewal not verified since ${formatIso(purchase.unverifiedSince)}: access lasts until the store reports it, at most until ${end}.`,
    );
  if (purchase.isBillingRetryPeriod)
    return access('Grace period', 'warn', `${describeFailures(purchase)}: in grace until ${end}.`);
  const [label, subject] = purchase.isTrialPeriod ? ['Trial', 'Free trial'] : ['Active', 'Paid'];
  if (renewalIntent === 'Lapse') {
    const canceled = `Canceled${on(renewalIntentChangeDate)}`;
    return access(
      purchase.isTrialPeriod ? 'Trial, canceled' : 'Canceled',
      'warn',
      `${canceled}, but ${purchase.isTrialPeriod ? 'the free trial lasts' : 'paid'} until ${end}: does not renew.`,
    );
  }
  if (renewalIntent === 'Renew')
    return access(
      label,
      purchase.isTrialPeriod ? 'info' : 'good',
      isOverdue
        ? `The renewal was due on ${end}: the store has not reported it yet.`
        : purchase.isTrialPeriod
          ? `Free trial until ${end}, then renews.`
          : `Renews on ${end}.`,
    );
  return access(label, 'good', `${subject} until ${end}: the store does not report whether it renews.`);
}

const access = (label: string, tone: State['tone'], headline: string): State => ({
  label,
  tone,
  headline,
  givesAccess: true,
});
const noAccess = (label: string, tone: State['tone'], headline: string): State => ({
  label,
  tone,
  headline,
  givesAccess: false,
});

/**
 * Describes the failed payments since the last successful one, such as "The payment failed twice, last on 28 February
 * 2026".
 */
function describeFailures({ notifications = [] }: DescribedPurchase): string {
  const payment = notifications.findLast(({ reason }) => reason === 'RENEWED' || reason === 'PURCHASED');
  const failures = notifications.filter(
    ({ reason, date }) => reason === 'ENTERED_GRACE_PERIOD' && date >= (payment?.date ?? ''),
  );
  const last = failures.at(-1);
  if (!last) return 'The payment failed';
  if (failures.length === 1) return `The payment failed${on(last.date)}`;
  return `The payment failed ${failures.length === 2 ? 'twice' : `${failures.length} times`}, last${on(last.date)}`;
}

const findLastEnd = ({ notifications = [] }: DescribedPurchase): PurchaseNotification | undefined =>
  notifications.findLast(({ reason }) => reason === 'REVOKED' || reason === 'EXPIRED' || reason === 'REFUNDED');

/** Causes of an end. Each completes a sentence. */
const causes: Readonly<Record<CancelationReason, string>> = {
  Developer: ': the developer canceled it',
  System: ': the store canceled it',
  'System.Replaced': ': another plan replaced it',
  'System.ProductUnavailable': ': the product is no longer sold',
  'System.BillingError': ': the payment failed',
  'System.Deleted': ': the store deleted it, for example with the account of the customer',
  Customer: ': the customer canceled it',
  'Customer.TechnicalIssues': ': the customer canceled it because of technical issues',
  'Customer.PriceIncrease': ': the customer did not agree to the price increase',
  'Customer.Cost': ': the customer canceled it because of its cost',
  'Customer.FoundBetterApp': ': the customer canceled it because of a better app',
  'Customer.NotUsefulEnough': ': the customer canceled it because it was not useful enough',
  'Customer.OtherReason': ': the customer canceled it for another reason',
  Unknown: ': the store does not report the cause',
  PAUSED: ': the customer paused it',
};

const toCause = (reason: CancelationReason | undefined): string => (reason === undefined ? '' : causes[reason]);

/** Describes the price of the current period if it is special. */
function describeOffer({ isIntroPeriod, discountId }: PurchaseRecord, givesAccess: boolean): string | undefined {
  if (!givesAccess) return undefined;
  if (isIntroPeriod) return 'The current period has an introductory price.';
  return discountId === undefined ? undefined : `The current period has the discount ${discountId}.`;
}

function describePriceIncrease({ priceConsentStatus }: PurchaseRecord, givesAccess: boolean): string | undefined {
  if (!givesAccess) return undefined;
  if (priceConsentStatus === 'Notified')
    return 'The customer was notified of a price increase and has not agreed to it yet.';
  return priceConsentStatus === 'Agreed' ? 'The customer agreed to the price increase.' : undefined;
}

// A refund without an amount is a full one.
export const isRefundedInFull = ({ refundDate, refundedAmountMicros, amountMicros }: TransactionRecord): boolean =>
  refundDate !== undefined && (refundedAmountMicros === undefined || refundedAmountMicros >= (amountMicros ?? 0));

/** Describes each refund, except the one that is the headline. */
const describeRefunds = (
  purchase: PurchaseRecord,
  transactions: readonly TransactionRecord[],
  label: string,
): string[] =>
  transactions
    .filter(({ refundDate }) => refundDate !== undefined)
    .filter(({ transactionId }) => !(label === 'Refunded' && transactionId === purchase.transactionId))
    .map((transaction) => {
      const { refundDate, refundedAmountMicros, amountMicros, currency, purchaseDate } = transaction;
      const payment = `the payment of ${formatIso(purchaseDate)}`;
      if (isRefundedInFull(transaction) || refundedAmountMicros === undefined || amountMicros === null || !currency)
        return `Refunded${on(refundDate)}: ${payment}.`;
      const [refunded, amount] = [refundedAmountMicros, amountMicros].map((micros) => formatMoney(micros, currency));
      return `Refunded partly${on(refundDate)}: ${refunded} of ${amount} of ${payment}.`;
    });

/**
 * Google Play refunds a purchase that is not acknowledged within three days. Renewals do not need it.
 * @see https://developer.android.com/google/play/billing/integrate#process
 */
function describeAcknowledgement(
  { isAcknowledged, platform, purchaseDate }: PurchaseRecord,
  now: number,
): string | undefined {
  if (isAcknowledged !== false || purchaseDate === undefined || formatPlatform(platform) !== 'Google Play')
    return undefined;
  const refundTime = Date.parse(purchaseDate) + acknowledgementMs;
  return now < refundTime
    ? `It is not acknowledged: Google Play refunds it on ${formatDate(new Date(refundTime))}.`
    : undefined;
}

const acknowledgementMs = 3 * 86_400_000;

function describeOwners({ entitledUsers, isPending }: DescribedPurchase): string | undefined {
  if (entitledUsers === undefined || isPending) return undefined;
  const [owner] = entitledUsers;
  if (owner === undefined) return 'No customer owns it: no receipt with it was validated for a customer.';
  return entitledUsers.length === 1 ? undefined : `${entitledUsers.length} customers own it.`;
}

const formatIso = (date: string): string => formatDate(new Date(date));

const on = (date: string | undefined): string => (date === undefined ? '' : ` on ${formatIso(date)}`);
