import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import type { AnswerService, RefundService } from '../lib/refunds/answer-refund-request.ts';
import { once } from '../lib/shared/once.ts';
import { loadStore } from '../lib/stores/index.ts';
import { events } from './events.ts';
import { purchases } from './purchases.ts';
import { service } from './service.ts';
import { storeContextDeps } from './store-context.ts';
import { table } from './table.ts';

export const refundService = once(
  (): RefundService => ({
    ...service(),
    ownedPurchases: createOwnedPurchaseRepository(table()),
    purchases: purchases(),
  }),
);

export const answerService = once(
  (): AnswerService => ({ ...storeContextDeps(), ...refundService(), events: events(), loadStore }),
);
