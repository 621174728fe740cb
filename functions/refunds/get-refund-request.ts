import { createHandler } from '../../lib/http/endpoint.ts';
import { readRefundRequest } from '../../lib/refunds/answer-refund-request.ts';
import { getRefundRequest } from '../../lib/refunds/contract.ts';

export const handler = createHandler(getRefundRequest)(
  async ({ app, params: { id } }, service) => await readRefundRequest(service, app.name, id),
);
