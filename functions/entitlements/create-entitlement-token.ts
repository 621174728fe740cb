import { hasCredits } from '../../lib/apps/catalogue.ts';
import { findCachedCatalogue } from '../../lib/apps/catalogue-table.ts';
import { authorizeReader } from '../../lib/checkout/list-checkout-purchases.ts';
import { readBalances } from '../../lib/credits/read-balances.ts';
import { createEntitlementToken } from '../../lib/entitlements/contract.ts';
import { readEntitlements } from '../../lib/entitlements/read-entitlements.ts';
import { createTokenKeys, isSandboxToken, signEntitlementToken } from '../../lib/entitlements/token-key.ts';
import { getOrCreateTokenKeys } from '../../lib/entitlements/token-key-table.ts';
import { toIso } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(createEntitlementToken)(
  async ({ app, key, params, query, body, baseUrl, recorder }, service) => {
    const { applicationUsername: username } = params;
    await authorizeReader({ app, recorder, service }, body.accessToken ?? query.accessToken, { key, username });
    const now = service.now();
    const [entitlements, keys] = await Promise.all([
      readEntitlements(service, app, username),
      getOrCreateTokenKeys(service, app.name, () => createTokenKeys(now)),
    ]);
    const credits = hasCredits(await findCachedCatalogue(service, app.name))
      ? await readBalances(service, app.name, { username, isSandbox: isSandboxToken(entitlements) })
      : undefined;
    const { token, expiresAt } = await signEntitlementToken(
      {
        issuer: baseUrl,
        appName: app.name,
        username,
        entitlements,
        credits,
        validMinutes: app.tokenMinutes,
        nonce: body.nonce,
        now,
      },
      keys,
    );
    return { token, expiresAt: toIso(expiresAt) };
  },
);
