import { authorizeReader } from '../../lib/checkout/list-checkout-purchases.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { verifyPurchase } from '../../lib/openiap/contract.ts';
import { verifyForOpenIap } from '../../lib/openiap/verify-for-openiap.ts';
import { resolveMergedName } from '../../lib/purchases/user-alias-table.ts';

export const handler = createHandler(verifyPurchase)(async ({ app, key, body, recorder }, service) => {
  const { applicationUsername: name, accessToken } = body;
  // A name without a proof does not claim: the public key is in every released app.
  const isNamed = name !== undefined && (key.level !== 'public' || accessToken !== undefined);
  if (!isNamed) return await verifyForOpenIap({ app, recorder, service, username: undefined }, body);
  await authorizeReader({ app, recorder, service }, accessToken, { key, username: name });
  const username = await resolveMergedName(service, app.name, name);
  recorder.setUser(username);
  return await verifyForOpenIap({ app, recorder, service, username }, body);
});
