import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { verifyPurchase as contract } from '../../lib/api/openiap.ts';
import { authorizeReader } from '../../lib/checkout/authorize-reader.ts';
import { verifyPurchase } from '../../lib/openiap/verify-purchase.ts';
import { loadStore } from '../../lib/stores/index.ts';

export const handler = createHandler(contract, () => ({ ...checkoutDeps(), loadStore }))(
  async ({ app, key, body, recorder }, deps) => {
    const { applicationUsername: username, accessToken } = body;
    // A name without a proof does not claim: the public key is in every released app.
    const isNamed = username !== undefined && (key.level !== 'public' || accessToken !== undefined);
    if (!isNamed) return await verifyPurchase(body, { app, recorder, deps, username: undefined });
    await authorizeReader(accessToken, { key, username }, () => ({ app, recorder, deps }));
    recorder.setUser(username);
    return await verifyPurchase(body, { app, recorder, deps, username });
  },
);
