import { validateReceipt } from '../../lib/api/validation.ts';
import { ServiceError } from '../../lib/errors.ts';
import { askingOf } from '../../lib/http/asking.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { spokenTransaction } from '../../lib/http/vocabulary.ts';
import { validationAnswer } from '../../lib/validation/answer.ts';
import { registerValidation } from '../../lib/validation/register.ts';
import { validationRequest } from '../../lib/validation/request.ts';

export const handler = endpoint(validateReceipt)(async ({ app, body, event }, deps) => {
  const request = validationRequest(body);
  const spoken = spokenTransaction(body.transaction);
  if (!spoken) throw new ServiceError('InvalidPayload', `transaction.type ${body.transaction.type} is not known.`);
  if (request.applicationUsername !== undefined) event.user(request.applicationUsername);
  const store = await deps.store(spoken.platform);
  const validation = await store.validate(request, await askingOf(app.name, spoken.platform, { event, deps }));
  const purchases = await registerValidation(request, validation, { app, event, deps });
  return validationAnswer(request, validation, { purchases, tongue: spoken.tongue, now: deps.now() });
});
