import { createClientToken } from '../../lib/checkout/contract.ts';
import { findVaultCustomerId } from '../../lib/customers/vault-reference-table.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { platformTokens } from '../../lib/foundation/platform.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { generateClientToken } from '../../lib/stores/braintree/client-token.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';

export const handler = createHandler(createClientToken)(async ({ app, body, vocabulary, recorder }, service) => {
  const { applicationUsername, customerId: reference } = body;
  if (applicationUsername === undefined && vocabulary !== 'brand')
    throw new ServiceError('InvalidPayload', 'applicationUsername is missing.');
  if (applicationUsername !== undefined) recorder.setUser(applicationUsername);
  const context = await createStoreContext(service, app.name, { platform: platformTokens.braintree, recorder });
  const customerId = reference === undefined ? undefined : await findVaultCustomerId(service, app.name, reference);
  return { success: true, clientToken: await generateClientToken(customerId, context) };
});
