import { createHandler } from '../../composition/endpoint.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { createClientToken } from '../../lib/api/braintree.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { platformTokens } from '../../lib/shared/platform.ts';
import { generateClientToken } from '../../lib/stores/braintree/client-token.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';

export const handler = createHandler(createClientToken, () => ({ ...storeContextDeps() }))(
  async ({ app, body, vocabulary, recorder }, deps) => {
    const { applicationUsername, customerId: reference } = body;
    if (applicationUsername === undefined && vocabulary !== 'brand')
      throw new ServiceError('InvalidPayload', 'applicationUsername is missing.');
    if (applicationUsername !== undefined) recorder.setUser(applicationUsername);
    const context = await createStoreContext(app.name, platformTokens.braintree, { recorder, deps });
    const customerId =
      reference === undefined ? undefined : await deps.vaultReferences.findCustomerId(app.name, reference);
    return { success: true, clientToken: await generateClientToken(customerId, context) };
  },
);
