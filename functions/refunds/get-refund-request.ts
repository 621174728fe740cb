import { createHandler } from '../../composition/endpoint.ts';
import { refundService } from '../../composition/refunds.ts';
import { readRefundRequest } from '../../lib/refunds/answer-refund-request.ts';
import { getRefundRequest } from '../../lib/refunds/contract.ts';

export const handler = createHandler(
  getRefundRequest,
  refundService,
)(async ({ app, params: { id } }, service) => await readRefundRequest(service, app.name, id));
