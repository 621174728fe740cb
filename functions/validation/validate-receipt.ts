import { validateReceipt } from '../../lib/api/validation.ts';
import type { Deps } from '../../lib/deps.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { spokenTransaction } from '../../lib/http/vocabulary.ts';
import { soldThrough } from '../../lib/processor-a/selling-platform.ts';
import type { Platform } from '../../lib/purchases/platform.ts';
import { validationAnswer } from '../../lib/validation/answer.ts';
import { productOf } from '../../lib/validation/product-of.ts';
import { validationRequest } from '../../lib/validation/request.ts';
import { validate } from '../../lib/validation/validate.ts';

export const handler = endpoint(validateReceipt)(async ({ app, body, event }, deps) => {
  const request = validationRequest(body);
  const spoken = spokenTransaction(body.transaction);
  if (!spoken) throw new ServiceError('InvalidPayload', `transaction.type ${body.transaction.type} is not known.`);
  if (request.applicationUsername !== undefined) event.user(request.applicationUsername);
  event.note({ products: [productOf(body)] });
  const platforms = await platformsOf(spoken.platform, app.name, deps);
  const validated = await firstThatKnows(
    platforms,
    async (platform) => await validate(request, platform, { app, event, deps }),
  );
  return validationAnswer(request, validated, { tongue: spoken.tongue, now: deps.now() });
});

/** One word stands for both accounts of processor_a; an application may have sold through either. */
const platformsOf = async (platform: Platform, app: string, { cachedApps }: Deps): Promise<readonly Platform[]> =>
  platform === 'processor_a' ? await soldThrough(app, cachedApps) : [platform];

/**
 * What the first account gives that does not refuse the receipt; when all do, the first one's refusal. An account that cannot
 * be asked refuses nothing: its failure is thrown.
 */
async function firstThatKnows<T>(
  [first, ...others]: readonly Platform[],
  ask: (platform: Platform) => Promise<T>,
): Promise<T> {
  try {
    return await ask(first as Platform);
  } catch (refusal) {
    const [second] = others;
    if (!isRefusal(refusal) || second === undefined) throw refusal;
    return await ask(second).catch((thrown) => {
      throw isRefusal(thrown) ? refusal : thrown;
    });
  }
}

const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof ServiceError && (thrown.code === 'InvalidPayload' || thrown.code === 'Forbidden');
