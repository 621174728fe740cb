import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { findCachedApp } from '../apps/app-table.ts';
import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { memoize } from '../foundation/cache.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { computeBackoffMs, type EpochMillis, minuteMs, toIso } from '../foundation/time.ts';
import { listOwnedTransactions } from '../purchases/owned-purchase-table.ts';
import { findPurchase, listTransactionsOfPurchases } from '../purchases/purchase-table.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import type { RefundAnswer } from '../stores/refund-request.ts';
import { addRequestedPurchase, findRequestCustomer } from './add-requested-purchase.ts';
import type { RefundRequestRecord } from './contract.ts';
import {
  type AnswerAuthor,
  computeFacts,
  getState,
  isUnsent,
  policyLeadMs,
  prepareAnswer,
  type RefundFacts,
  type RefundRequest,
  requiresConsent,
  type StoredAnswer,
  toAnswerRecord,
  toRefundRequestRecord,
} from './refund-request.ts';
import { findRefundConsent, findRefundRequest, updateRefundRequest } from './refund-request-table.ts';

/** Transactions in the sums of a customer. */
const maxTransactions = 500;

interface CustomerFacts {
  readonly customerTransactions: readonly Transaction[];
  readonly consentedAt: EpochMillis | undefined;
}

async function readCustomer(service: Service, appName: string, username: string): Promise<CustomerFacts> {
  const [customerTransactions, consentedAt] = await Promise.all([
    listOwnedTransactions(service, appName, username, { skip: 0, limit: maxTransactions }),
    findRefundConsent(service, appName, username),
  ]);
  return { customerTransactions, consentedAt };
}

async function readFacts(
  service: Service,
  appName: string,
  request: RefundRequest,
  read = async (username: string) => await readCustomer(service, appName, username),
): Promise<RefundFacts> {
  const { purchaseId } = request;
  const [stored, purchaseTransactions] = await Promise.all([
    findPurchase(service, appName, purchaseId),
    listTransactionsOfPurchases(service, appName, [purchaseId]),
  ]);
  const [username] = stored?.entitledUsers ?? [];
  const customer =
    username === undefined
      ? { customerTransactions: purchaseTransactions, consentedAt: undefined }
      : await read(username);
  return computeFacts(request, { stored, purchaseTransactions, ...customer }, service.now());
}

/** Reads a refund request with its facts. Throws `ResourceNotFound` for an unknown one. */
export async function readRefundRequest(
  service: Service,
  appName: string,
  requestId: string,
): Promise<RefundRequestRecord> {
  const request = requireRequest(await findRefundRequest(service, appName, requestId));
  return toRefundRequestRecord(request, await readFacts(service, appName, request), service.now());
}

/** Rows whose facts are read at the same time. */
const concurrency = 10;

/**
 * Reads the facts of a page of requests. Reads the payments of a customer once: a customer with hundreds of them often
 * requests several refunds.
 */
export async function readRefundRequests(
  service: Service,
  appName: string,
  requests: readonly RefundRequest[],
): Promise<RefundRequestRecord[]> {
  const read = memoize(async (username: string) => await readCustomer(service, appName, username));
  const toRecord = async (request: RefundRequest) =>
    toRefundRequestRecord(request, await readFacts(service, appName, request, read), service.now());
  return await pMap(requests, toRecord, { concurrency });
}

/** Members of a statement. The prepared statement completes it. */
type AnswerInput = { readonly [K in keyof RefundAnswer]?: RefundAnswer[K] | undefined } & Pick<
  RefundAnswer,
  'preference'
>;

/**
 * Stores the first statement about a refund and sends it. Throws `ResourceNotFound` for an unknown request,
 * `InvalidPayload` without a consent that the store requires or if the store rejects the statement, and `Conflict`
 * after the deadline or the store's decision, or with the first statement if there is one.
 */
export async function submitAnswer(
  service: Service,
  requestId: string,
  input: AnswerInput,
  { appName, author, recorder }: { appName: string; author: AnswerAuthor; recorder: EventRecorder },
): Promise<RefundRequestRecord> {
  const request = requireRequest(await findRefundRequest(service, appName, requestId));
  if (request.answer) throw answeredError(request.answer);
  requireOpen(request, service.now());
  const facts = await readFacts(service, appName, request);
  const answer = completeAnswer(request, input, facts);
  addRequestedPurchase(recorder, request.purchaseId, facts.username);
  const { saved, isFirst } = await storeAnswer(service, appName, { requestId, answer, author });
  if (!isFirst && saved.answer) throw answeredError(saved.answer);
  const sent = await sendAnswer(service, appName, saved, recorder);
  if (!sent.answer)
    throw new ServiceError('InvalidPayload', sent.rejection?.message ?? 'The store rejected the statement.');
  return toRefundRequestRecord(sent, facts, service.now());
}

const answeredError = (answer: StoredAnswer): ServiceError =>
  new ServiceError('Conflict', 'The refund request has a statement already. Stores accept only the first one.', {
    data: { answer: toAnswerRecord(answer) },
    retryable: false,
  });

function completeAnswer(request: RefundRequest, input: AnswerInput, facts: RefundFacts): RefundAnswer {
  const { why: _why, consumptionPercentage, ...prepared } = prepareAnswer(request.platform, facts);
  const { deliveryStatus = prepared.deliveryStatus } = input;
  const isDelivered = deliveryStatus === undefined || deliveryStatus === 'DELIVERED';
  const answer: RefundAnswer = {
    ...prepared,
    ...(isDelivered && omitUndefined({ consumptionPercentage })),
    ...omitUndefined(input),
  };
  if (requiresConsent(request.platform) && !answer.customerConsented) {
    throw new ServiceError(
      'InvalidPayload',
      'customerConsented must be true: the App Store accepts no statement without the consent of the customer.',
    );
  }
  if (requiresConsent(request.platform) && !isDelivered && input.consumptionPercentage) {
    throw new ServiceError(
      'InvalidPayload',
      'consumptionPercentage must be 0: the App Store ignores the used part of an undelivered product.',
    );
  }
  return answer;
}

/** Stores the statement, unless the request has one. */
async function storeAnswer(
  service: Service,
  appName: string,
  { requestId, answer, author }: { requestId: string; answer: RefundAnswer; author: AnswerAuthor },
): Promise<{ saved: RefundRequest; isFirst: boolean }> {
  let isFirst = false;
  const stored = await updateRefundRequest(service, appName, requestId, (current) => {
    const now = service.now();
    isFirst = !current.answer;
    if (!isFirst) return current;
    requireOpen(current, now);
    const { rejection: _former, ...rest } = current;
    return addAnswer(rest, answer, author, now);
  });
  return { saved: requireRequest(stored), isFirst };
}

/** Adds a statement that the caller sends now. Due again, in case the caller crashes. */
const addAnswer = (
  request: RefundRequest,
  answer: RefundAnswer,
  author: AnswerAuthor,
  now: EpochMillis,
): RefundRequest => ({
  ...request,
  answer: { ...answer, author, answeredAt: now, failedAttempts: 0 },
  dueAt: now + sendLeaseMs,
});

function requireRequest(request: RefundRequest | undefined): RefundRequest {
  if (!request) throw new ServiceError('ResourceNotFound', 'The refund request is not found.');
  return request;
}

function requireOpen(request: RefundRequest, now: EpochMillis): void {
  if (getState(request, now) === 'open') return;
  const reason = request.outcome
    ? `The store has decided about the refund: ${request.outcome}.`
    : `The deadline of the refund request has passed: ${toIso(request.deadline)}.`;
  throw new ServiceError('Conflict', reason, { retryable: false });
}

/** Time after which a statement whose sender crashed is sent again: longer than the timeout of every function. */
const sendLeaseMs = 2 * minuteMs;
const retryDelays = { firstMs: minuteMs, maxMs: 10 * minuteMs };

/**
 * Sends the stored statement to the store. A store that is unavailable is retried until the deadline. A statement that
 * the store rejects is removed, and another one can be sent. At least once: after a crash, the same statement is sent
 * again, and the store keeps the first.
 */
async function sendAnswer(
  service: Service,
  appName: string,
  request: RefundRequest,
  recorder: EventRecorder,
): Promise<RefundRequest> {
  const { answer, requestId } = request;
  if (!answer) return request;
  const failure = await trySend(service, appName, { request, answer }, recorder);
  const now = service.now();
  const updated = await updateRefundRequest(service, appName, requestId, (stored) => {
    if (stored.answer?.answeredAt !== answer.answeredAt || stored.answer.sentAt !== undefined) return stored;
    const { answer: storedAnswer, dueAt: _step, ...rest } = stored;
    if (!failure) return { ...rest, answer: { ...storedAnswer, sentAt: now } };
    if (failure.code === 'InvalidPayload') return { ...rest, rejection: { at: now, message: failure.message } };
    const failedAttempts = storedAnswer.failedAttempts + 1;
    const retried = { ...storedAnswer, failedAttempts, failureReason: failure.message };
    const retryAt = now + computeBackoffMs(failedAttempts, retryDelays);
    return { ...rest, answer: retried, ...(isUnsent(stored) && { dueAt: retryAt }) };
  });
  if (failure?.code === 'InvalidPayload' && answer.author.type === 'policy')
    logError({ worker: 'refresh-purchase', problem: 'RefundStatementLost', app: appName, requestId }, failure);
  return updated ?? request;
}

async function trySend(
  service: Service,
  appName: string,
  { request, answer }: { readonly request: RefundRequest; readonly answer: StoredAnswer },
  recorder: EventRecorder,
): Promise<ServiceError | undefined> {
  const { platform } = request;
  try {
    const store = await loadStore(platform);
    if (!store.answerRefundRequest) throw new ServiceError('InternalError', `${platform} does not request statements.`);
    const context = await createStoreContext(service, appName, { platform, recorder });
    await store.answerRefundRequest(request, answer, context);
    return undefined;
  } catch (error) {
    return ServiceError.fromUnknown(error);
  }
}

/** Runs what is due for a refund request: sends the policy's statement, or retries an unsent one. Idempotent. */
export async function runDueRefundStep(service: Service, appName: string, requestId: string): Promise<void> {
  const request = await findRefundRequest(service, appName, requestId);
  if (request?.dueAt === undefined) return;
  const app = await findCachedApp(service, appName);
  if (!app || app.deletedAt !== undefined || request.outcome) return await endSteps(service, appName, request);
  if (!request.answer) return await applyPolicy(service, app, request);
  if (!isUnsent(request)) return await endSteps(service, appName, request);
  // A concurrent request is sending it.
  if (request.dueAt > service.now()) return;
  if (request.deadline <= service.now()) return await reportLost(service, appName, request);
  const username = await findRequestCustomer(service, appName, request);
  await sendOnSchedule(service, appName, { request, username });
}

async function applyPolicy(service: Service, app: App, request: RefundRequest): Promise<void> {
  const now = service.now();
  if (now < request.deadline - policyLeadMs) return;
  const isOpen = getState(request, now) === 'open' && request.rejection === undefined;
  if (app.refundPolicy !== 'answer' || !isOpen) return await endSteps(service, app.name, request);
  const facts = await readFacts(service, app.name, request);
  const { why: _why, ...answer } = prepareAnswer(request.platform, facts);
  if (requiresConsent(request.platform) && !answer.customerConsented) return await endSteps(service, app.name, request);
  const stored = await updateRefundRequest(service, app.name, request.requestId, (current) => {
    if (current.answer || getState(current, now) !== 'open') return current;
    return addAnswer(current, answer, { type: 'policy' }, now);
  });
  if (stored?.answer?.author.type !== 'policy' || stored.answer.answeredAt !== now) return;
  await sendOnSchedule(service, app.name, { request: stored, username: facts.username });
}

/** Sends the statement from a worker and records an event. */
async function sendOnSchedule(
  service: Service,
  appName: string,
  { request, username }: { readonly request: RefundRequest; readonly username: string | undefined },
): Promise<void> {
  const recorder = createEventRecorder({ type: 'refund.answered', date: service.now() });
  addRequestedPurchase(recorder, request.purchaseId, username);
  const sent = await sendAnswer(service, appName, request, recorder);
  const reason = sent.answer ? sent.answer.failureReason : sent.rejection?.message;
  const isSent = sent.answer?.sentAt !== undefined;
  const failure = isSent || reason === undefined ? undefined : new ServiceError('ConnectionFailed', reason);
  const params = { requestId: request.requestId, preference: request.answer?.preference ?? '' };
  const result = { recorder, request: { route: 'refund', params }, ...(failure && { failure }) };
  await recordWorkerEvent(service, appName, result);
}

async function endSteps(service: Service, appName: string, { requestId, version }: RefundRequest): Promise<void> {
  await updateRefundRequest(service, appName, requestId, (current) => {
    if (current.version !== version || current.dueAt === undefined) return current;
    const { dueAt: _ended, ...rest } = current;
    return rest;
  });
}

/** Logs a statement that the store did not accept until the deadline, which an alarm counts. */
async function reportLost(service: Service, appName: string, request: RefundRequest): Promise<void> {
  const { requestId, answer } = request;
  const reason = answer?.failureReason ?? 'The statement about a refund was not sent before the deadline.';
  const failure = new ServiceError('ConnectionFailed', reason);
  logError({ worker: 'refresh-purchase', problem: 'RefundStatementLost', app: appName, requestId }, failure);
  await endSteps(service, appName, request);
}
