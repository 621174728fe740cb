import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { changeApp } from '../../lib/api/app.ts';
import { setAccessRules } from '../../lib/apps/manage-apps.ts';
import { defaultUnverifiedHours } from '../../lib/purchases/unverified-time.ts';

export const handler = createHandler(changeApp, () => ({ apps: apps() }))(async ({ app, body }, { apps }) => {
  const { strategy, unverifiedHours = defaultUnverifiedHours } = await setAccessRules(apps, app.name, body);
  return { ok: true, strategy, unverifiedHours };
});
