import { createHandler } from '../../composition/endpoint.ts';
import { refundAnswerDeps } from '../../composition/refund-requests.ts';
import { answerRefundRequest as contract } from '../../lib/api/refund-requests.ts';
import { answerRefundRequest } from '../../lib/refund-requests/answer-refund-request.ts';
import { buildRefundRequestRecord } from '../../lib/refund-requests/to-records.ts';
import { ServiceError } from '../../lib/shared/errors.ts';

export const handler = createHandler(
  contract,
  refundAnswerDeps,
)(async ({ app, key, params: { id }, body, recorder }, deps) => {
  const author = { type: 'key', id: key.id, name: key.name } as const;
  const result = await answerRefundRequest(id, body, { appName: app.name, author, recorder, deps });
  const context = { now: deps.now(), deps };
  if (!('first' in result)) return await buildRefundRequestRecord(app.name, result, context);
  const { answer } = await buildRefundRequestRecord(app.name, result.first, context);
  throw new ServiceError('Conflict', 'The refund request has a statement already. The first one counts.', {
    data: { answer },
    retryable: false,
  });
});
