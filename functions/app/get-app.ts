import { apiVersion } from '../../lib/api/service.ts';
import { defaultUnverifiedHours } from '../../lib/apps/app.ts';
import { findCachedCatalogue } from '../../lib/apps/catalogue-table.ts';
import { getApp } from '../../lib/apps/contract.ts';
import { defaultTokenMinutes } from '../../lib/entitlements/token-key.ts';
import { selectEmulator } from '../../lib/foundation/service.ts';
import { toIso } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { listCountedProducts } from '../../lib/statistics/counter-table.ts';
import { listStoreConnections } from '../../lib/store-notifications/list-store-connections.ts';
import { toDisplayUrl } from '../../lib/webhooks/display-url.ts';

export const handler = createHandler(getApp)(async ({ app, key, baseUrl, query }, service) => {
  const { url } = selectEmulator(service.emulator, app.name);
  const { name: appName, createdAt, strategy, sandboxRule, vocabulary, webhookSettings } = app;
  const { unverifiedHours = defaultUnverifiedHours } = app;
  const [catalogue, stores, products] = await Promise.all([
    findCachedCatalogue(service, appName),
    listStoreConnections(service, appName, baseUrl),
    query.include_products === 'true' ? listCountedProducts(service, appName) : undefined,
  ]);
  return {
    appName,
    createdAt: toIso(createdAt),
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
    ...(products && { productIds: products.map(({ productId }) => productId) }),
    stores,
    service: { version: apiVersion, ...(url && { emulatorUrl: url }) },
  };
});
