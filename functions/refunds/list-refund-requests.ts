import pMap from 'p-map';
import { createHandler } from '../../composition/endpoint.ts';
import { refundRequestDeps } from '../../composition/refund-requests.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { listRefundRequests } from '../../lib/api/refund-requests.ts';
import { buildRefundRequestRecord } from '../../lib/refund-requests/to-records.ts';

/** Each row reads the facts about its payment. */
const concurrency = 10;

export const handler = createHandler(
  listRefundRequests,
  refundRequestDeps,
)(async ({ app, query }, deps) => {
  const now = deps.now();
  const { state, cursor, limit = 50 } = query;
  const { rows, next } = await deps.refundRequests.listPage(app.name, { state, cursor, limit, now });
  const toRecord = async (row: (typeof rows)[number]) => await buildRefundRequestRecord(app.name, row, { now, deps });
  return toCursorPage(await pMap(rows, toRecord, { concurrency }), next);
});
