import { createHandler } from '../../lib/http/endpoint.ts';
import { submitAnswer } from '../../lib/refunds/answer-refund-request.ts';
import { answerRefundRequest } from '../../lib/refunds/contract.ts';

export const handler = createHandler(answerRefundRequest)(
  async ({ app, key, params: { id }, body, recorder }, service) => {
    const author = { type: 'key', id: key.id, name: key.name } as const;
    return await submitAnswer(service, id, body, { appName: app.name, author, recorder });
  },
);
