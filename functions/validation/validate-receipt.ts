import { validateReceipt } from '../../lib/api/validation.ts';
import { listCheckoutPlatforms } from '../../lib/checkout/checkout-platform.ts';
import type { Deps } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { resolveTransactionType } from '../../lib/shared/vocabulary.ts';
import { describeProduct } from '../../lib/validation/describe-product.ts';
import { processValidation } from '../../lib/validation/process-validation.ts';
import { toValidationRequest } from '../../lib/validation/to-validation-request.ts';
import { toValidationResponse } from '../../lib/validation/to-validation-response.ts';

export const handler = createHandler(validateReceipt)(async ({ app, body, recorder }, deps) => {
  const request = toValidationRequest(body);
  const transactionType = resolveTransactionType(body.transaction);
  if (!transactionType)
    throw new ServiceError('InvalidPayload', `transaction.type ${body.transaction.type} is not known.`);
  if (request.applicationUsername !== undefined) recorder.setUser(request.applicationUsername);
  recorder.addContent({ products: [describeProduct(body)] });
  const platforms = await listCandidatePlatforms(transactionType.platform, app.name, deps);
  const validated = await validateOnFirstAccepting(
    platforms,
    async (platform) => await processValidation(request, platform, { app, recorder, deps }),
  );
  return toValidationResponse(request, validated, { vocabulary: transactionType.vocabulary, now: deps.now() });
});

/** One word stands for both accounts of processor_a; an application may have sold through either. */
const listCandidatePlatforms = async (
  platform: Platform,
  appName: string,
  { appCache }: Deps,
): Promise<readonly Platform[]> =>
  platform === 'processor_a' ? await listCheckoutPlatforms(appName, appCache) : [platform];

/**
 * What the first account gives that does not refuse the receipt; when all do, the first one's refusal. An account that cannot
 * be asked refuses nothing: its failure is thrown.
 */
async function validateOnFirstAccepting<T>(
  [first, ...others]: readonly Platform[],
  ask: (platform: Platform) => Promise<T>,
): Promise<T> {
  try {
    return await ask(first as Platform);
  } catch (rejection) {
    const [second] = others;
    if (!isRejection(rejection) || second === undefined) throw rejection;
    return await ask(second).catch((error) => {
      throw isRejection(error) ? rejection : error;
    });
  }
}

const isRejection = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'InvalidPayload' || error.code === 'Forbidden');
