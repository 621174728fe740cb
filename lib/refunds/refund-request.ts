import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { type Platform, platformTokens } from '../foundation/platform.ts';
import { type EpochMillis, minuteMs, toIso, toNullableIso } from '../foundation/time.ts';
import { toAmountUsd } from '../money/usd-conversion.ts';
import { isSubscription, type Purchase } from '../purchases/purchase.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { EntitledPurchase } from '../purchases/stored-purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { RefundAnswer, RefundOutcome, StoreRefundRequest } from '../stores/refund-request.ts';
import type { RefundRequestRecord } from './contract.ts';

const AnswerAuthor = v.variant('type', [
  v.object({ type: v.literal('key'), id: v.string(), name: v.string() }),
  v.object({ type: v.literal('policy') }),
]);
export type AnswerAuthor = v.InferOutput<typeof AnswerAuthor>;

/** The first statement, which the store receives. */
const StoredAnswer = v.object({
  ...RefundAnswer.entries,
  author: AnswerAuthor,
  answeredAt: v.number(),
  /** When the store accepted it. Absent until then. */
  sentAt: OptionalNumber,
  failedAttempts: v.number(),
  /** Why the last attempt failed. */
  failureReason: OptionalText,
});
export type StoredAnswer = v.InferOutput<typeof StoredAnswer>;

/** A store's request for a statement about a refund. Times in epoch milliseconds. */
export const RefundRequest = v.object({
  requestId: v.string(),
  ...StoreRefundRequest.entries,
  answer: v.exactOptional(StoredAnswer),
  /** The last statement that the store rejected. Another one can be sent. */
  rejection: v.exactOptional(v.object({ at: v.number(), message: v.string() })),
  outcome: v.exactOptional(RefundOutcome),
  outcomeAt: OptionalNumber,
  /** Time of the next step: a statement by policy, an attempt to send one, or the alarm. */
  dueAt: OptionalNumber,
  /** The event of the store's notification. */
  eventId: OptionalText,
  /** Increases with each change. */
  version: v.number(),
});
export type RefundRequest = v.InferOutput<typeof RefundRequest>;

/** The latest decision of a store about the refund of a payment. */
export const RefundDecision = v.object({ outcome: RefundOutcome, outcomeAt: v.number() });
export type RefundDecision = v.InferOutput<typeof RefundDecision>;

export type RefundRequestState = 'open' | 'answered' | 'expired';

/** Time before the deadline at which the policy of the app sends the prepared statement. */
export const policyLeadMs = 30 * minuteMs;

/** Returns the time until which the first statement is possible: the deadline, or the store's earlier decision. */
export const getAnswerEnd = ({ deadline, outcomeAt = deadline }: RefundRequest): EpochMillis =>
  Math.min(deadline, outcomeAt);

/**
 * Returns the state by the first statement. Without one, a request expires at its deadline, or if the store decides
 * earlier.
 */
export function getState(request: RefundRequest, now: EpochMillis): RefundRequestState {
  if (request.answer) return 'answered';
  return getAnswerEnd(request) <= now ? 'expired' : 'open';
}

export const isUnsent = ({ answer, outcome }: RefundRequest): boolean =>
  answer !== undefined && answer.sentAt === undefined && outcome === undefined;

/** What the service stores about a payment to refund and its customer. */
export interface RefundFacts {
  /** The entitled customer. Absent for a purchase that no customer has claimed. */
  username?: string;
  productId?: string;
  sandbox: boolean;
  /** A customer has claimed the purchase, which validates it. */
  isDelivered: boolean;
  isConsumed: boolean;
  /** Used part of the period of a subscription, in thousandths of a percent. */
  usedShare?: number;
  hadTrial: boolean;
  /** Date of the customer's first purchase. */
  customerSince?: EpochMillis;
  purchaseCount: number;
  paidUsd: number;
  refundedUsd: number;
  /** When the customer consented to statements about refunds. */
  consentedAt?: EpochMillis;
}

/** What the facts follow from. */
interface FactSources {
  stored: EntitledPurchase | undefined;
  purchaseTransactions: readonly Transaction[];
  /** The latest ones, or those of the purchase if it has no customer. */
  customerTransactions: readonly Transaction[];
  consentedAt: EpochMillis | undefined;
}

export function computeFacts(
  { transactionId, sandbox, productId }: RefundRequest,
  { stored, purchaseTransactions, customerTransactions, consentedAt }: FactSources,
  now: EpochMillis,
): RefundFacts {
  const [username] = stored?.entitledUsers ?? [];
  const payment = purchaseTransactions.find((transaction) => transaction.transactionId === transactionId);
  const isSandbox = stored?.purchase.sandbox ?? sandbox;
  // Purchases in the sandbox of a store cost nothing.
  const counted = customerTransactions.filter(
    (transaction) => transaction.sandbox === isSandbox && !transaction.isPending,
  );
  const dates = counted.map(({ purchaseDate }) => purchaseDate);
  return {
    ...omitUndefined({
      username,
      productId: payment?.productId ?? stored?.purchase.productId ?? productId,
      usedShare: stored && payment && computeUsedShare(stored.purchase, payment, now),
      customerSince: dates.length > 0 ? Math.min(...dates) : undefined,
      consentedAt,
    }),
    sandbox: isSandbox,
    isDelivered: username !== undefined,
    isConsumed: stored?.purchase.isConsumed === true,
    hadTrial: purchaseTransactions.some(({ isTrialPeriod }) => isTrialPeriod === true),
    purchaseCount: new Set(counted.map(({ purchaseId }) => purchaseId)).size,
    paidUsd: sumCents(counted.map((transaction) => toAmountUsd(transaction) ?? 0)),
    refundedUsd: sumCents(counted.flatMap(listRefundedAmounts).map(({ amountUsd = 0 }) => amountUsd)),
  };
}

const fullShare = 100_000;

function computeUsedShare(
  purchase: Purchase,
  { purchaseDate, expirationDate = purchase.expirationDate }: Transaction,
  now: EpochMillis,
): number | undefined {
  if (!isSubscription(purchase) || expirationDate === undefined || expirationDate <= purchaseDate) return undefined;
  const share = Math.round(((now - purchaseDate) / (expirationDate - purchaseDate)) * fullShare);
  return Math.min(Math.max(share, 0), fullShare);
}

const sumCents = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0) / 100;

/** Used part of a period from which the prepared statement declines a refund. */
const declinedShare = 50_000;

export const requiresConsent = (platform: Platform): boolean => platform === platformTokens.appStore;

/** Prepares the statement. It never prefers a refund: the app decides about that. */
export function prepareAnswer(platform: Platform, facts: RefundFacts): RefundAnswer & { why: string[] } {
  const consumptionPercentage = facts.isConsumed ? fullShare : facts.usedShare;
  const isUsed = consumptionPercentage !== undefined && consumptionPercentage >= declinedShare;
  const isAppStore = platform === platformTokens.appStore;
  return {
    preference: facts.isDelivered && isUsed ? 'decline' : 'neutral',
    customerConsented: facts.consentedAt !== undefined,
    sampleContentProvided: facts.hadTrial,
    ...(isAppStore && { deliveryStatus: facts.isDelivered ? 'DELIVERED' : 'UNDELIVERED_OTHER' }),
    ...omitUndefined({ consumptionPercentage: facts.isDelivered ? consumptionPercentage : undefined }),
    why: explain(platform, facts),
  };
}

function explain(platform: Platform, facts: RefundFacts): string[] {
  const { isDelivered, isConsumed, usedShare, hadTrial, refundedUsd, consentedAt } = facts;
  const sentences: (string | false)[] = [
    isDelivered ? 'A customer has validated the purchase.' : 'No customer has validated the purchase.',
    isConsumed && 'The purchase is consumed.',
    usedShare !== undefined && `${Math.round(usedShare / 1000)} % of the period is used.`,
    hadTrial && 'The customer had a trial.',
    refundedUsd > 0 && `Earlier refunds: ${refundedUsd.toFixed(2)} USD.`,
    requiresConsent(platform) &&
      (consentedAt === undefined
        ? 'The customer has not consented: the App Store accepts no statement.'
        : 'The customer has consented.'),
  ];
  return sentences.filter((sentence) => sentence !== false);
}

export function toRefundRequestRecord(
  request: RefundRequest,
  facts: RefundFacts,
  now: EpochMillis,
): RefundRequestRecord {
  const { platform, purchaseId, transactionId, reason, answer, rejection, outcome } = request;
  const state = getState(request, now);
  return {
    id: request.requestId,
    platform,
    purchaseId,
    transactionId,
    productId: facts.productId ?? null,
    applicationUsername: facts.username ?? null,
    state,
    reason,
    isSandbox: facts.sandbox,
    requestedAt: toIso(request.requestedAt),
    deadline: toIso(request.deadline),
    facts: {
      isDelivered: facts.isDelivered,
      isConsumed: facts.isConsumed,
      customerSince: toNullableIso(facts.customerSince),
      purchaseCount: facts.purchaseCount,
      paidUSD: facts.paidUsd,
      refundedUSD: facts.refundedUsd,
      consentedAt: toNullableIso(facts.consentedAt),
    },
    preparedAnswer: state === 'open' ? prepareAnswer(platform, facts) : null,
    answer: answer ? toAnswerRecord(answer) : null,
    ...(rejection && { rejection: { ...rejection, at: toIso(rejection.at) } }),
    outcome: outcome ?? null,
    outcomeAt: toNullableIso(request.outcomeAt),
  };
}

export function toAnswerRecord(answer: StoredAnswer): NonNullable<RefundRequestRecord['answer']> {
  const { author, answeredAt, sentAt, failedAttempts: _attempts, failureReason, ...statement } = answer;
  return {
    ...statement,
    answeredAt: toIso(answeredAt),
    answeredBy: author,
    sentAt: toNullableIso(sentAt),
    ...(sentAt === undefined && omitUndefined({ failureReason })),
  };
}
