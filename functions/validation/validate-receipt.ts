import { validateReceipt } from '../../lib/api/validation.ts';
import { listCheckoutPlatforms } from '../../lib/checkout/checkout-platform.ts';
import {
  type Deps,
  exchangeRates,
  loadStore,
  ownedPurchases,
  recordPurchase,
  storeContextProviders,
  userAliases,
} from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { type Platform, platformTokens } from '../../lib/shared/platform.ts';
import { resolveTransactionType } from '../../lib/shared/vocabulary.ts';
import { describeProduct } from '../../lib/validation/describe-product.ts';
import { processValidation } from '../../lib/validation/process-validation.ts';
import { toValidationRequest } from '../../lib/validation/to-validation-request.ts';
import { toValidationResponse } from '../../lib/validation/to-validation-response.ts';

export const handler = createHandler(validateReceipt, {
  ...storeContextProviders,
  exchangeRates,
  loadStore,
  ownedPurchases,
  recordPurchase,
  userAliases,
})(async ({ app, body, recorder }, deps) => {
  const request = toValidationRequest(body);
  const transactionType = resolveTransactionType(body.transaction);
  if (!transactionType)
    throw new ServiceError('InvalidPayload', `transaction.type ${body.transaction.type} is not supported.`);
  if (request.applicationUsername !== undefined) recorder.setUser(request.applicationUsername);
  recorder.addContent({ products: [describeProduct(body)] });
  const platforms = await listCandidatePlatforms(transactionType.platform, app.name, deps);
  const validation = await validateOnFirstAccepting(
    platforms,
    async (platform) => await processValidation(request, platform, { app, recorder, deps }),
  );
  return toValidationResponse(request, validation, { vocabulary: transactionType.vocabulary, now: deps.now() });
});

/** Lists the platforms of a transaction. Stripe stands for both Stripe accounts, and an app can sell through both. */
const listCandidatePlatforms = async (
  platform: Platform,
  appName: string,
  { appCache }: Pick<Deps, 'appCache'>,
): Promise<readonly Platform[]> =>
  platform === platformTokens.stripe ? await listCheckoutPlatforms(appName, appCache) : [platform];

/**
 * Returns the result of the first platform that does not reject the receipt. Throws the rejection of the first platform
 * if all reject it, and any other error immediately: an unavailable store has not rejected the receipt.
 */
async function validateOnFirstAccepting<T>(
  [first, second]: readonly Platform[],
  validate: (platform: Platform) => Promise<T>,
): Promise<T> {
  try {
    return await validate(first as Platform);
  } catch (rejection) {
    if (!isRejection(rejection) || second === undefined) throw rejection;
    return await validate(second).catch((error) => {
      throw isRejection(error) ? rejection : error;
    });
  }
}

const isRejection = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'InvalidPayload' || error.code === 'Forbidden');
