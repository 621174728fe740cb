import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import { createRefundRequestRepository } from '../lib/db/refund-request-repository.ts';
import type { AnswerDeps } from '../lib/refund-requests/answer-refund-request.ts';
import { once } from '../lib/shared/once.ts';
import { loadStore } from '../lib/stores/index.ts';
import { now } from './environment.ts';
import { events } from './events.ts';
import { purchases } from './purchases.ts';
import { storeContextDeps } from './store-context.ts';
import { table } from './table.ts';

export const refundRequests = once(() => createRefundRequestRepository(table()));

/** What reads refund requests with their facts. */
export const refundRequestDeps = once(() => ({
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
  purchases: purchases(),
  refundRequests: refundRequests(),
}));

/** What sends statements about refunds. */
export const refundAnswerDeps = once(
  (): AnswerDeps => ({ ...storeContextDeps(), ...refundRequestDeps(), events: events(), loadStore }),
);
