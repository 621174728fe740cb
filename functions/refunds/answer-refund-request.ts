import { createHandler } from '../../lib/http/endpoint.ts';
import { answerRefundRequest } from '../../lib/refunds/answer-refund-request.ts';
import { answerRefundRequest as contract } from '../../lib/refunds/contract.ts';

export const handler = createHandler(contract)(async ({ app, key, params: { id }, body, recorder }, service) => {
  const author = { type: 'key', id: key.id, name: key.name } as const;
  return await answerRefundRequest(service, id, body, { appName: app.name, author, recorder });
});
