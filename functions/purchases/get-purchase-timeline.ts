import { toCursorPage } from '../../lib/api/paging.ts';
import { listPurchaseTimeline } from '../../lib/events/timeline-table.ts';
import { toTimelineRecord } from '../../lib/events/to-timeline-record.ts';
import { toIso } from '../../lib/foundation/time.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { findPurchaseFacts, requirePurchase } from '../../lib/purchases/purchase-table.ts';
import { getPurchaseTimeline } from '../../lib/purchases/timeline-contract.ts';

export const handler = createHandler(getPurchaseTimeline)(async ({ app, params, query, recorder }, service) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const { limit = 50, cursor } = query;
  const [facts, { rows, next }] = await Promise.all([
    findPurchaseFacts(service, app.name, purchaseId),
    listPurchaseTimeline(service, app.name, purchaseId, { limit, cursor }),
  ]);
  requirePurchase(facts);
  recorder.addTag(purchaseId, '_P');
  const { asOf, checkedAt, updatedAt, createdAt, lastRefreshAt, failedRefreshes = 0, nextRefreshAt } = facts;
  return {
    purchaseId,
    asOf: toIso(asOf),
    checkedAt: toIso(checkedAt),
    updatedAt: toIso(updatedAt),
    createdAt: toIso(createdAt),
    ...(lastRefreshAt !== undefined && { lastRefreshAt: toIso(lastRefreshAt) }),
    failedRefreshes,
    ...(nextRefreshAt !== undefined && { nextRefreshAt: toIso(nextRefreshAt) }),
    canRefresh: facts.hasRefreshToken,
    ...toCursorPage(rows.map(toTimelineRecord), next),
  };
});
