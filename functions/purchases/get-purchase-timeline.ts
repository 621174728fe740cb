import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { getPurchaseTimeline } from '../../lib/api/purchases.ts';
import { createTimelineRepository } from '../../lib/db/timeline-repository.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import type { EpochMillis } from '../../lib/shared/time.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';
import { toTimelineRecord } from '../../lib/webhooks/to-timeline-record.ts';

const toIso = (date: EpochMillis): string => new Date(date).toISOString();

export const handler = createHandler(getPurchaseTimeline, () => ({
  purchases: purchases(),
  timelines: createTimelineRepository(table(), now),
}))(async ({ app, params, query, recorder }, deps) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const { limit = 50, cursor } = query;
  const [facts, { rows, next }] = await Promise.all([
    deps.purchases.findFacts(app.name, purchaseId),
    deps.timelines.listByPurchase(app.name, purchaseId, { limit, cursor }),
  ]);
  if (!facts) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
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
