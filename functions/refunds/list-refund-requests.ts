import { createHandler } from '../../composition/endpoint.ts';
import { refundRequestDeps } from '../../composition/refund-requests.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { listRefundRequests } from '../../lib/api/refund-requests.ts';
import { buildRefundRequestRecords } from '../../lib/refund-requests/to-records.ts';

export const handler = createHandler(
  listRefundRequests,
  refundRequestDeps,
)(async ({ app, query }, deps) => {
  const now = deps.now();
  const { state, cursor, limit = 50 } = query;
  const { rows, next } = await deps.refundRequests.listPage(app.name, { state, cursor, limit, now });
  return toCursorPage(await buildRefundRequestRecords(app.name, rows, { now, deps }), next);
});
