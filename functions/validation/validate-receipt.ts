import { validateReceipt } from '../../lib/api/validation.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { spokenTransaction } from '../../lib/http/vocabulary.ts';
import { validationAnswer } from '../../lib/validation/answer.ts';
import { validationRequest } from '../../lib/validation/request.ts';
import { validate } from '../../lib/validation/validate.ts';

export const handler = endpoint(validateReceipt)(async ({ app, body, event }, deps) => {
  const request = validationRequest(body);
  const spoken = spokenTransaction(body.transaction);
  if (!spoken) throw new ServiceError('InvalidPayload', `transaction.type ${body.transaction.type} is not known.`);
  if (request.applicationUsername !== undefined) event.user(request.applicationUsername);
  const validated = await validate(request, spoken.platform, { app, event, deps });
  return validationAnswer(request, validated, { tongue: spoken.tongue, now: deps.now() });
});
