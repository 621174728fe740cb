import * as v from 'valibot';
import { formatTime } from './calendar.ts';

/** Body of an API call that replies to a refund request, with the time of the call. */
const Answer = v.object({ at: v.number(), body: v.record(v.string(), v.unknown()) });
export type Answer = v.InferOutput<typeof Answer>;

/** Refund that a customer requested and about which the store requests a statement. */
export const RefundRequest = v.object({
  /** Unique in the store. Google Play: the pending refund token. */
  id: v.string(),
  purchaseId: v.string(),
  /** Payment to refund. Google Play: the order. */
  transactionId: v.string(),
  reason: v.string(),
  requestedAt: v.number(),
  /** Time until which the store waits for a reply. */
  deadline: v.number(),
  /** First reply: it counts. */
  answer: v.exactOptional(Answer),
  /** Later replies, without effect. */
  ignoredAnswers: v.array(Answer),
  decision: v.exactOptional(v.object({ at: v.number(), outcome: v.picklist(['approved', 'declined']) })),
});
export type RefundRequest = v.InferOutput<typeof RefundRequest>;

/** Builds a request that the store has not decided. */
export const openRefundRequest = (
  request: Pick<RefundRequest, 'id' | 'purchaseId' | 'transactionId' | 'reason' | 'requestedAt' | 'deadline'>,
): RefundRequest => ({ ...request, ignoredAnswers: [] });

/** Finds the undecided request for a payment. */
export const findOpenRequest = (
  requests: ReadonlyMap<string, RefundRequest>,
  transactionId: string,
): RefundRequest | undefined =>
  [...requests.values()].find((request) => request.transactionId === transactionId && request.decision === undefined);

/** Adds a reply. Only the first one before the decision counts. */
export const withAnswer = (request: RefundRequest, answer: Answer): RefundRequest =>
  request.answer === undefined && request.decision === undefined
    ? { ...request, answer }
    : { ...request, ignoredAnswers: [...request.ignoredAnswers, answer] };

/** Returns the time of the decision; undefined if the store has decided. */
export const getDecisionTime = ({ decision, answer, deadline }: RefundRequest): number | undefined =>
  decision === undefined ? (answer?.at ?? deadline) : undefined;

/** Converts a request for the control API. */
export function toRefundRequestView({ decision, answer, ignoredAnswers, ...request }: RefundRequest): object {
  return {
    ...request,
    state: decision?.outcome ?? 'open',
    requestedAt: formatTime(request.requestedAt),
    deadline: formatTime(request.deadline),
    ...(answer && { answer: toAnswerView(answer) }),
    ignoredAnswers: ignoredAnswers.map(toAnswerView),
    ...(decision && { decidedAt: formatTime(decision.at) }),
  };
}

const toAnswerView = ({ at, body }: Answer): object => ({ at: formatTime(at), body });
