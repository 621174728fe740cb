import { createEventRecorder, type EventRecorder } from '../events/event-recorder.ts';
import type { EventRepository } from '../events/event-repository.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import { type EpochMillis, minuteMs } from '../shared/time.ts';
import { createStoreContext, type StoreContextDeps } from '../stores/create-store-context.ts';
import type { LoadStore } from '../stores/store.ts';
import { isUnsent } from './refund-request.ts';
import type { RefundRequest, RefundRequestRepository } from './refund-request-repository.ts';

export type SendDeps = StoreContextDeps & {
  readonly events: EventRepository;
  readonly loadStore: LoadStore;
  readonly refundRequests: RefundRequestRepository;
};

/** Time after which a statement whose sender crashed is sent again: longer than the timeout of every function. */
export const sendLeaseMs = 2 * minuteMs;
const maxRetryDelayMs = 10 * minuteMs;

/**
 * Sends the stored statement to the store. A store that is unavailable is retried until the deadline. A statement that
 * the store rejects does not count: it is removed, and another one is possible. At least once: after a crash, the same
 * statement is sent again, and the store counts the first.
 */
export async function sendAnswer(
  appName: string,
  request: RefundRequest,
  { recorder, deps }: { readonly recorder: EventRecorder; readonly deps: SendDeps },
): Promise<RefundRequest> {
  const { answer, requestId } = request;
  if (!answer) return request;
  const failure = await trySend(appName, request, { recorder, deps });
  const now = deps.now();
  const updated = await deps.refundRequests.update(appName, requestId, (stored) => {
    if (stored.answer?.answeredAt !== answer.answeredAt || stored.answer.sentAt !== undefined) return stored;
    const { answer: storedAnswer, dueAt: _step, ...rest } = stored;
    if (!failure) return { ...rest, answer: { ...storedAnswer, sentAt: now } };
    if (failure.code === 'InvalidPayload') return { ...rest, rejection: { at: now, message: failure.message } };
    const failedAttempts = storedAnswer.failedAttempts + 1;
    const retried = { ...storedAnswer, failedAttempts, failureReason: failure.message };
    const isSettled = !isUnsent(stored);
    return { ...rest, answer: retried, ...(!isSettled && { dueAt: now + computeDelayMs(failedAttempts) }) };
  });
  if (failure?.code === 'InvalidPayload' && answer.author.type === 'policy')
    logError({ worker: 'refresh-purchase', problem: 'RefundStatementLost', app: appName, requestId }, failure);
  return updated ?? request;
}

const computeDelayMs = (failedAttempts: number): EpochMillis =>
  Math.min(maxRetryDelayMs, minuteMs * 2 ** Math.min(failedAttempts - 1, 10));

async function trySend(
  appName: string,
  { answer, platform, ...request }: RefundRequest,
  { recorder, deps }: { readonly recorder: EventRecorder; readonly deps: SendDeps },
): Promise<ServiceError | undefined> {
  if (!answer) return undefined;
  try {
    const store = await deps.loadStore(platform);
    if (!store.answerRefundRequest) throw new ServiceError('InternalError', `${platform} does not request statements.`);
    const context = await createStoreContext(appName, platform, { recorder, deps });
    await store.answerRefundRequest({ ...request, platform }, answer, context);
    return undefined;
  } catch (error) {
    return ServiceError.fromUnknown(error);
  }
}

/** Sends the statement from a worker and records an event. */
export async function sendAnswerOnSchedule(
  appName: string,
  request: RefundRequest,
  deps: SendDeps,
): Promise<RefundRequest> {
  const recorder = createEventRecorder({ type: 'refund.answered', date: deps.now() });
  recorder.addTag(request.purchaseId, '_P');
  const sent = await sendAnswer(appName, request, { recorder, deps });
  const reason = sent.answer ? sent.answer.failureReason : sent.rejection?.message;
  const isSent = sent.answer?.sentAt !== undefined;
  const failure = isSent || reason === undefined ? undefined : new ServiceError('ConnectionFailed', reason);
  const params = { requestId: request.requestId, preference: request.answer?.preference ?? '' };
  await recordWorkerEvent(
    appName,
    { recorder, request: { route: 'refund', params }, ...(failure && { failure }) },
    deps,
  );
  return sent;
}
