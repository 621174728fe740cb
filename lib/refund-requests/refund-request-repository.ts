import * as v from 'valibot';
import { RefundOutcome } from '../api/refund-statement.ts';
import type { CursorPage } from '../shared/cursor-page.ts';
import type { EpochMillis } from '../shared/time.ts';
import { RefundAnswer, StoreRefundRequest } from '../stores/refund-request.ts';

/** The API key that sent a statement, or the policy of the app. */
const AnswerAuthor = v.variant('type', [
  v.object({ type: v.literal('key'), id: v.string(), name: v.string() }),
  v.object({ type: v.literal('policy') }),
]);
export type AnswerAuthor = v.InferOutput<typeof AnswerAuthor>;

/** The first statement, which counts. */
const StoredAnswer = v.object({
  ...RefundAnswer.entries,
  author: AnswerAuthor,
  answeredAt: v.number(),
  /** When the store accepted it. Absent until then. */
  sentAt: v.exactOptional(v.number()),
  failedAttempts: v.number(),
  /** Why the last attempt failed. */
  failureReason: v.exactOptional(v.string()),
});
export type StoredAnswer = v.InferOutput<typeof StoredAnswer>;

/** A store's request for a statement about a refund. Times in epoch milliseconds. */
export const RefundRequest = v.object({
  requestId: v.string(),
  ...StoreRefundRequest.entries,
  answer: v.exactOptional(StoredAnswer),
  /** The last statement that the store rejected. It does not count. */
  rejection: v.exactOptional(v.object({ at: v.number(), message: v.string() })),
  outcome: v.exactOptional(RefundOutcome),
  outcomeAt: v.exactOptional(v.number()),
  /** Time of the next step: a statement by policy, an attempt to send one, or the alarm. */
  dueAt: v.exactOptional(v.number()),
  /** Increases with each change. */
  version: v.number(),
});
export type RefundRequest = v.InferOutput<typeof RefundRequest>;

export type RefundRequestState = 'open' | 'answered' | 'expired';

/** Returns the time until which the first statement is possible: the deadline, or the store's earlier decision. */
export const getAnswerEnd = ({ deadline, outcomeAt = deadline }: RefundRequest): EpochMillis =>
  Math.min(deadline, outcomeAt);

/** A page of refund requests. */
interface RefundRequestQuery {
  readonly state?: RefundRequestState | undefined;
  readonly limit: number;
  /** The position of the previous page. */
  readonly cursor?: string | undefined;
  readonly now: EpochMillis;
}

/** The latest decision of a store about the refund of a payment. */
export const RefundDecision = v.object({ outcome: RefundOutcome, outcomeAt: v.number() });
export type RefundDecision = v.InferOutput<typeof RefundDecision>;

/** The refund requests of all apps, and the consent of customers to statements about their refunds. */
export interface RefundRequestRepository {
  find(appName: string, requestId: string): Promise<RefundRequest | undefined>;
  /** Returns the latest request for a payment. `transactionId` has a platform prefix. */
  findLatest(appName: string, transactionId: string): Promise<RefundRequest | undefined>;
  /**
   * Creates the request after `latest`, the latest one of its payment. Returns undefined if another one was created
   * since.
   */
  create(
    appName: string,
    request: StoreRefundRequest & Pick<RefundRequest, 'outcome' | 'outcomeAt' | 'dueAt'>,
    latest: RefundRequest | undefined,
  ): Promise<RefundRequest | undefined>;
  /**
   * Replaces the request with what `change` returns for the stored one. Calls `change` again if another writer
   * interferes. Returns undefined if the request does not exist. A result equal to the argument is not written.
   */
  update(
    appName: string,
    requestId: string,
    change: (request: RefundRequest) => RefundRequest,
  ): Promise<RefundRequest | undefined>;
  /** Returns the latest decision about a payment. */
  findDecision(appName: string, transactionId: string): Promise<RefundDecision | undefined>;
  /** Stores a decision about a payment, unless a later one is stored. */
  saveDecision(appName: string, transactionId: string, decision: RefundDecision): Promise<void>;
  /** Lists a page, newest first. With a state: by the end of the time for a statement, or by its date. */
  listPage(appName: string, query: RefundRequestQuery): Promise<CursorPage<RefundRequest>>;
  /** Returns when the customer consented. Undefined without consent. */
  findConsent(appName: string, username: string): Promise<EpochMillis | undefined>;
  /** Stores or withdraws the consent of the customer. */
  setConsent(appName: string, username: string, consentedAt: EpochMillis | undefined): Promise<void>;
}
