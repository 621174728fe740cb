import type { EventRecorder } from '../events/event-recorder.ts';
import { ServiceError } from '../shared/errors.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { RefundAnswer } from '../stores/refund-request.ts';
import { type FactDeps, gatherFacts } from './gather-facts.ts';
import { prepareAnswer, requiresConsent } from './prepare-answer.ts';
import { getState } from './refund-request.ts';
import type { AnswerAuthor, RefundRequest } from './refund-request-repository.ts';
import { type SendDeps, sendAnswer, sendLeaseMs } from './send-answer.ts';

export type AnswerDeps = SendDeps & FactDeps;

/** Members of a statement. The prepared statement completes it. */
export type AnswerInput = { readonly [K in keyof RefundAnswer]?: RefundAnswer[K] | undefined } & Pick<
  RefundAnswer,
  'preference'
>;

/** The request has a statement already. */
export interface AlreadyAnswered {
  readonly first: RefundRequest;
}

/**
 * Stores the first statement about a refund and sends it. Returns the first one if there is one. Throws
 * `ResourceNotFound` for an unknown request, `InvalidPayload` without a consent that the store requires or if the store
 * rejects the statement, and `Conflict` after the deadline or the store's decision.
 */
export async function answerRefundRequest(
  requestId: string,
  input: AnswerInput,
  {
    appName,
    author,
    recorder,
    deps,
  }: {
    readonly appName: string;
    readonly author: AnswerAuthor;
    readonly recorder: EventRecorder;
    readonly deps: AnswerDeps;
  },
): Promise<RefundRequest | AlreadyAnswered> {
  const request = requireRequest(await deps.refundRequests.find(appName, requestId));
  if (request.answer) return { first: request };
  requireOpen(request, deps.now());
  const answer = await completeAnswer(appName, request, { input, deps });
  recorder.addTag(request.purchaseId, '_P');
  let isFirst = false;
  const stored = await deps.refundRequests.update(appName, requestId, (current) => {
    isFirst = false;
    const now = deps.now();
    if (current.answer) return current;
    requireOpen(current, now);
    isFirst = true;
    const { rejection: _former, ...rest } = current;
    return { ...rest, answer: { ...answer, author, answeredAt: now, failedAttempts: 0 }, dueAt: now + sendLeaseMs };
  });
  const saved = requireRequest(stored);
  if (!isFirst) return { first: saved };
  const sent = await sendAnswer(appName, saved, { recorder, deps });
  if (!sent.answer) throw new ServiceError('InvalidPayload', sent.rejection?.message ?? 'The store rejected it.');
  return sent;
}

async function completeAnswer(
  appName: string,
  request: RefundRequest,
  { input, deps }: { readonly input: AnswerInput; readonly deps: AnswerDeps },
): Promise<RefundAnswer> {
  const facts = await gatherFacts(appName, request, { now: deps.now(), deps });
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
  return answer;
}

/** Throws `ResourceNotFound` without a request. */
export function requireRequest(request: RefundRequest | undefined): RefundRequest {
  if (!request) throw new ServiceError('ResourceNotFound', 'The refund request is not found.');
  return request;
}

function requireOpen(request: RefundRequest, now: number): void {
  if (getState(request, now) === 'open') return;
  const reason = request.outcome
    ? `The store has decided about the refund: ${request.outcome}.`
    : `The deadline of the refund request has passed: ${new Date(request.deadline).toISOString()}.`;
  throw new ServiceError('Conflict', reason, { retryable: false });
}
