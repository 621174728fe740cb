import { createHandler } from '../../composition/endpoint.ts';
import { exchangeRates, recordPurchase } from '../../composition/record-purchase.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { table } from '../../composition/table.ts';
import { registerWarmUp } from '../../composition/warm-up.ts';
import { validateReceipt } from '../../lib/api/validation.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { resolveTransactionType } from '../../lib/shared/vocabulary.ts';
import { loadStore } from '../../lib/stores/index.ts';
import { describeProduct } from '../../lib/validation/describe-product.ts';
import { toValidationRequest } from '../../lib/validation/to-validation-request.ts';
import { toValidationResponse } from '../../lib/validation/to-validation-response.ts';
import { validateAtAccounts } from '../../lib/validation/validate-at-accounts.ts';

export const handler = createHandler(validateReceipt, () => ({
  ...storeContextDeps(),
  exchangeRates: exchangeRates(),
  loadStore,
  ownedPurchases: createOwnedPurchaseRepository(table()),
  recordPurchase: recordPurchase(),
  userAliases: createUserAliasRepository(table()),
}))(async ({ app, body, recorder }, deps) => {
  const request = toValidationRequest(body);
  const transactionType = resolveTransactionType(body.transaction);
  if (!transactionType)
    throw new ServiceError('InvalidPayload', `transaction.type ${body.transaction.type} is not supported.`);
  if (request.applicationUsername !== undefined) recorder.setUser(request.applicationUsername);
  recorder.addContent({ products: [describeProduct(body)] });
  const outcome = await validateAtAccounts(request, transactionType.platform, { app, recorder, deps });
  return toValidationResponse(request, outcome, { vocabulary: transactionType.vocabulary, now: deps.now() });
});

// In place of the first request of an instance. Other adapters are loaded with their first request.
registerWarmUp(
  async () => await (await import('../../composition/rehearse-validation.ts')).rehearseRecording(),
  async () => await (await import('../../composition/rehearse-app-store.ts')).rehearseAppStoreQuery(),
  async () => await import('../../lib/stores/app-store/app-store.ts'),
  async () => await import('../../lib/stores/google-play/google-play.ts'),
);
