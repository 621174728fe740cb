import { appCache, apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { emulator } from '../../composition/environment.ts';
import { getApp } from '../../lib/api/app.ts';
import { apiVersion } from '../../lib/api/service.ts';
import { defaultTokenMinutes } from '../../lib/entitlements/sign-token.ts';
import { defaultUnverifiedHours } from '../../lib/purchases/unverified-time.ts';
import { selectEmulator } from '../../lib/shared/store-emulator.ts';
import { listStoreConnections } from '../../lib/store-notifications/list-store-connections.ts';
import { toDisplayUrl } from '../../lib/webhooks/display-url.ts';

export const handler = createHandler(getApp, () => ({ appCache: appCache(), apps: apps(), emulator: emulator() }))(
  async ({ app, key, baseUrl }, { apps, appCache, emulator }) => {
    const { url } = selectEmulator(emulator, app.name);
    const { name: appName, createdAt, strategy, sandboxRule, vocabulary, webhookSettings } = app;
    const { unverifiedHours = defaultUnverifiedHours } = app;
    const [catalogue, stores] = await Promise.all([
      appCache.findCatalogue(appName),
      listStoreConnections(appName, baseUrl, { apps }),
    ]);
    return {
      appName,
      createdAt: new Date(createdAt).toISOString(),
      key,
      strategy,
      sandboxEntitlements: sandboxRule?.rule ?? 'all',
      ...(sandboxRule?.rule === 'listed' && { sandboxUsers: sandboxRule.usernames }),
      tokenMinutes: app.tokenMinutes ?? defaultTokenMinutes,
      vocabulary,
      unverifiedHours,
      ...(app.alertUrl && { alertUrl: toDisplayUrl(app.alertUrl) }),
      ...(webhookSettings && {
        webhooks: {
          urls: webhookSettings.urls.map(toDisplayUrl),
          sandboxUrls: webhookSettings.sandboxUrls.map(toDisplayUrl),
          includesPassword: webhookSettings.includesPassword,
          events: webhookSettings.events ?? [],
        },
      }),
      catalogue: { ...catalogue },
      stores,
      service: { version: apiVersion, ...(url && { emulatorUrl: url }) },
    };
  },
);
