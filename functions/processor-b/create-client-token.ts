import { createClientToken } from '../../lib/api/processor-b.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { generateClientToken } from '../../lib/stores/processor-b/client-token.ts';

export const handler = createHandler(createClientToken)(async ({ app, body, recorder: event }, deps) => {
  const { applicationUsername, customerId } = body;
  if (applicationUsername !== undefined) event.setUser(applicationUsername);
  const asking = await createStoreContext(app.name, 'processor_b', { recorder: event, deps });
  return { success: true, clientToken: await generateClientToken(customerId, asking) };
});
