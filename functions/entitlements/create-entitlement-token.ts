import { checkoutDeps } from '../../composition/checkout.ts';
import { cipher } from '../../composition/cipher.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { entitlementDeps } from '../../composition/entitlements.ts';
import { table } from '../../composition/table.ts';
import { createEntitlementToken } from '../../lib/api/entitlements.ts';
import { authorizeReader } from '../../lib/checkout/authorize-reader.ts';
import { createTokenKeyRepository } from '../../lib/db/token-key-repository.ts';
import { signEntitlementToken } from '../../lib/entitlements/entitlement-token.ts';
import { readEntitlements } from '../../lib/entitlements/read-entitlements.ts';
import { createTokenKeys } from '../../lib/entitlements/token-keys.ts';

export const handler = createHandler(createEntitlementToken, () => ({
  ...entitlementDeps(),
  tokenKeys: createTokenKeyRepository(table(), cipher()),
}))(async ({ app, key, params, query, body, baseUrl, recorder }, deps) => {
  const { applicationUsername: username } = params;
  await authorizeReader(body.accessToken ?? query.accessToken, { key, username }, () => ({
    app,
    recorder,
    deps: checkoutDeps(),
  }));
  const now = deps.now();
  const [entitlements, keys] = await Promise.all([
    readEntitlements(app, username, deps),
    deps.tokenKeys.getOrCreate(app.name, () => createTokenKeys(now)),
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
