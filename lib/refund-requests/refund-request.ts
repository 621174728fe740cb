import { type EpochMillis, minuteMs } from '../shared/time.ts';
import { getAnswerEnd, type RefundRequest, type RefundRequestState } from './refund-request-repository.ts';

/** Time before the deadline at which the policy of the app sends the prepared statement. */
export const policyLeadMs = 30 * minuteMs;

/**
 * Returns the state by the first statement. Without one, a request expires at its deadline, or if the store decides
 * earlier.
 */
export function getState(request: RefundRequest, now: EpochMillis): RefundRequestState {
  if (request.answer) return 'answered';
  return getAnswerEnd(request) <= now ? 'expired' : 'open';
}

/** Whether the statement is still to be sent. */
export const isUnsent = ({ answer, outcome }: RefundRequest): boolean =>
  answer !== undefined && answer.sentAt === undefined && outcome === undefined;
