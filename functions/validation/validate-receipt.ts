import { toPagesAdvice } from '../../lib/api/limits.ts';
import { settleValidation } from '../../lib/credits/settle-validation.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { resolveTransactionType } from '../../lib/foundation/vocabulary.ts';
import { registerWarmUp } from '../../lib/foundation/warm-up.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';
import { resolveMergedName } from '../../lib/purchases/user-alias-table.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { validateAtAccounts } from '../../lib/validation/process-validation.ts';
import { describeProduct, toValidationRequest } from '../../lib/validation/to-validation-request.ts';
import { toValidationResponse } from '../../lib/validation/to-validation-response.ts';

export const handler = createHandler(validateReceipt)(async ({ app, body, recorder }, service) => {
  const submitted = toValidationRequest(body);
  const transactionType = resolveTransactionType(body.transaction);
  if (!transactionType)
    throw new ServiceError('InvalidPayload', `transaction.type ${body.transaction.type} is not supported.`);
  const username = await resolveMergedName(service, app.name, submitted.applicationUsername);
  const request = { ...submitted, ...(username !== undefined && { applicationUsername: username }) };
  if (username !== undefined) recorder.setUser(username);
  recorder.addContent({ products: [describeProduct(body)] });
  const outcome = await validateAtAccounts({ app, recorder, service }, request, transactionType.platform);
  const credits = await settleValidation(service, {
    appName: app.name,
    username,
    purchases: outcome.purchases,
    eventId: recorder.eventId,
  });
  const response = toValidationResponse(request, outcome, {
    vocabulary: transactionType.vocabulary,
    now: service.now(),
    ...(credits && { credits }),
  });
  return createReply({ body: response, sizeAdvice: toPagesAdvice() });
});

// In place of the first request of an instance. Other adapters are loaded with their first request.
registerWarmUp(
  async () => await (await import('../../lib/validation/warm-up-validation.ts')).warmUpRecording(),
  async () => await (await import('../../lib/stores/app-store/warm-up-query.ts')).warmUpAppStoreQuery(),
  async () => await import('../../lib/stores/app-store/app-store.ts'),
  async () => await import('../../lib/stores/google-play/google-play.ts'),
);
