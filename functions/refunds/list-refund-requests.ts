import { toCursorPage } from '../../lib/api/paging.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { readRefundRequests } from '../../lib/refunds/answer-refund-request.ts';
import { listRefundRequests } from '../../lib/refunds/contract.ts';
import { listRefundRequestPage } from '../../lib/refunds/refund-request-table.ts';

export const handler = createHandler(listRefundRequests)(async ({ app, query: { limit = 50, ...query } }, service) => {
  const { rows, next } = await listRefundRequestPage(service, app.name, { ...query, limit, now: service.now() });
  return toCursorPage(await readRefundRequests(service, app.name, rows), next);
});
