import { createHandler } from '../../composition/endpoint.ts';
import { refundRequestDeps } from '../../composition/refund-requests.ts';
import { getRefundRequest } from '../../lib/api/refund-requests.ts';
import { requireRequest } from '../../lib/refund-requests/answer-refund-request.ts';
import { buildRefundRequestRecord } from '../../lib/refund-requests/to-records.ts';

export const handler = createHandler(
  getRefundRequest,
  refundRequestDeps,
)(async ({ app, params: { id } }, deps) => {
  const request = requireRequest(await deps.refundRequests.find(app.name, id));
  return await buildRefundRequestRecord(app.name, request, { now: deps.now(), deps });
});
