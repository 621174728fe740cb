import { validateReceipt } from '../../lib/api/validation.ts';
import type { Deps } from '../../lib/deps.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { spokenTransaction } from '../../lib/http/vocabulary.ts';
import { sellingPlatform } from '../../lib/processor-a/selling-platform.ts';
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
  const validated = await validate(request, await platformOf(spoken.platform, app.name, deps), { app, event, deps });
  return validationAnswer(request, validated, { tongue: spoken.tongue, now: deps.now() });
});

/** One word stands for both accounts of processor_a; the application's settings say through which it sells. */
const platformOf = async (platform: Platform, app: string, { cachedApps }: Deps): Promise<Platform> =>
  platform === 'processor_a' ? await sellingPlatform(app, cachedApps) : platform;
