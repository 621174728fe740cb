import { createClientToken } from '../../lib/api/processor-b.ts';
import { askingOf } from '../../lib/http/asking.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { clientToken } from '../../lib/stores/processor-b/client-token.ts';

export const handler = endpoint(createClientToken)(async ({ app, body, event }, deps) => {
  const { applicationUsername, customerId } = body;
  if (applicationUsername !== undefined) event.user(applicationUsername);
  const asking = await askingOf(app.name, 'processor_b', { event, deps });
  return { success: true, clientToken: await clientToken(customerId, asking) };
});
