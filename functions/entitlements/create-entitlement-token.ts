import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { entitlementDeps } from '../../composition/entitlements.ts';
import { service } from '../../composition/service.ts';
import { authorizeReader } from '../../lib/checkout/authorize-reader.ts';
import { createEntitlementToken } from '../../lib/entitlements/contract.ts';
import { readEntitlements } from '../../lib/entitlements/read-entitlements.ts';
import { signEntitlementToken } from '../../lib/entitlements/sign-token.ts';
import { createTokenKeys } from '../../lib/entitlements/token-key.ts';
import { getOrCreateTokenKeys } from '../../lib/entitlements/token-key-table.ts';

export const handler = createHandler(
  createEntitlementToken,
  entitlementDeps,
)(async ({ app, key, params, query, body, baseUrl, recorder }, deps) => {
  const { applicationUsername: username } = params;
  await authorizeReader(body.accessToken ?? query.accessToken, { key, username }, () => ({
    app,
    recorder,
    deps: checkoutDeps(),
  }));
  const now = deps.now();
  const [entitlements, keys] = await Promise.all([
    readEntitlements(app, username, deps),
    getOrCreateTokenKeys(service(), app.name, () => createTokenKeys(now)),
  ]);
  const { token, expiresAt } = await signEntitlementToken(
    {
      issuer: baseUrl,
      appName: app.name,
      username,
      entitlements,
      validMinutes: app.tokenMinutes,
      nonce: body.nonce,
      now,
    },
    keys,
  );
  return { token, expiresAt: new Date(expiresAt).toISOString() };
});
