import pMap from 'p-map';
import type { RefundRequestRecord } from '../api/refund-requests.ts';
import { memoize } from '../shared/memoize.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';
import { type FactDeps, gatherFacts, type RefundFacts } from './gather-facts.ts';
import { prepareAnswer } from './prepare-answer.ts';
import { getState } from './refund-request.ts';
import type { RefundRequest, StoredAnswer } from './refund-request-repository.ts';

const toIso = (date: EpochMillis): string => new Date(date).toISOString();
const toNullableIso = (date: EpochMillis | undefined): string | null => (date === undefined ? null : toIso(date));

interface RecordContext {
  readonly now: EpochMillis;
  readonly deps: FactDeps;
}

/** Each row reads the facts about its payment. */
const concurrency = 10;

/**
 * Builds the records of a page. Reads the payments of a customer once: a customer with hundreds of them often requests
 * several refunds.
 */
export async function buildRefundRequestRecords(
  appName: string,
  requests: readonly RefundRequest[],
  { now, deps }: RecordContext,
): Promise<RefundRequestRecord[]> {
  const shared = {
    purchases: deps.purchases,
    ownedPurchases: { listTransactions: memoize(deps.ownedPurchases.listTransactions) },
    refundRequests: { findConsent: memoize(deps.refundRequests.findConsent) },
  };
  const toRecord = async (request: RefundRequest) =>
    await buildRefundRequestRecord(appName, request, { now, deps: shared });
  return await pMap(requests, toRecord, { concurrency });
}

/** Builds the record of a request with the facts at `now`. */
export async function buildRefundRequestRecord(
  appName: string,
  request: RefundRequest,
  context: RecordContext,
): Promise<RefundRequestRecord> {
  const facts = await gatherFacts(appName, request, context);
  const { platform, purchaseId, transactionId, reason, answer, rejection, outcome } = request;
  const state = getState(request, context.now);
  const prepared = state === 'open' ? prepareAnswer(platform, facts) : null;
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
    facts: toFactsRecord(facts),
    preparedAnswer: prepared && { ...prepared, why: [...prepared.why] },
    answer: answer ? toAnswerRecord(answer) : null,
    ...(rejection && { rejection: { ...rejection, at: toIso(rejection.at) } }),
    outcome: outcome ?? null,
    outcomeAt: toNullableIso(request.outcomeAt),
  };
}

const toFactsRecord = (facts: RefundFacts): RefundRequestRecord['facts'] => ({
  isDelivered: facts.isDelivered,
  isConsumed: facts.isConsumed,
  customerSince: toNullableIso(facts.customerSince),
  purchaseCount: facts.purchaseCount,
  paidUSD: facts.paidUsd,
  refundedUSD: facts.refundedUsd,
  consentedAt: toNullableIso(facts.consentedAt),
});

function toAnswerRecord(answer: StoredAnswer): NonNullable<RefundRequestRecord['answer']> {
  const { author, answeredAt, sentAt, failedAttempts: _attempts, failureReason, ...statement } = answer;
  return {
    ...statement,
    answeredAt: toIso(answeredAt),
    answeredBy: author,
    sentAt: toNullableIso(sentAt),
    ...(sentAt === undefined && omitUndefined({ failureReason })),
  };
}
