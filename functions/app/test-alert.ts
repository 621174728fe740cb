import { testAlert } from '../../lib/apps/contract.ts';
import { getApp } from '../../lib/apps/manage-apps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { sendTestAlert } from '../../lib/problems/send-alerts.ts';

export const handler = createHandler(testAlert)(async ({ app }, service) => {
  // The cached app can be older than the latest change.
  await sendTestAlert(service, await getApp(service, app.name));
  return { ok: true };
});
