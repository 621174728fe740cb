import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { emulator } from '../../composition/environment.ts';
import { changeApp } from '../../lib/api/app.ts';
import { setAccessRules } from '../../lib/apps/manage-apps.ts';
import { requireAlertUrl } from '../../lib/problems/set-alert-url.ts';
import { defaultUnverifiedHours } from '../../lib/purchases/unverified-time.ts';
import { toDisplayUrl } from '../../lib/webhooks/display-url.ts';

export const handler = createHandler(changeApp, () => ({ apps: apps(), emulator: emulator() }))(
  async ({ app, body }, { apps, emulator }) => {
    if (body.alertUrl !== undefined) requireAlertUrl(body.alertUrl, emulator);
    const { strategy, unverifiedHours = defaultUnverifiedHours, alertUrl } = await setAccessRules(apps, app.name, body);
    return { ok: true, strategy, unverifiedHours, ...(alertUrl && { alertUrl: toDisplayUrl(alertUrl) }) };
  },
);
