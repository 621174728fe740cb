import { defaultUnverifiedHours } from '../../lib/apps/app.ts';
import { changeApp } from '../../lib/apps/contract.ts';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { requireAlertUrl } from '../../lib/problems/set-alert-url.ts';

import { toDisplayUrl } from '../../lib/webhooks/display-url.ts';

export const handler = createHandler(changeApp)(async ({ app, body }, service) => {
  if (body.alertUrl !== undefined) requireAlertUrl(body.alertUrl, service.emulator);
  const {
    strategy,
    unverifiedHours = defaultUnverifiedHours,
    alertUrl,
  } = await changeSettings(service, app.name, body);
  return { ok: true, strategy, unverifiedHours, ...(alertUrl && { alertUrl: toDisplayUrl(alertUrl) }) };
});
