import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiKey } from '../../lib/apps/manage-apps.ts';
import { getProcessorPurchases } from '../../lib/checkout/contract.ts';
import { getService } from '../../lib/foundation/container.ts';
import { callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type CheckoutFixture, expectCheckoutError, startCheckoutFixture, toBasicOffer } from './checkout-fixture.ts';

let checkout: CheckoutFixture;
beforeAll(async () => {
  checkout = await startCheckoutFixture();
});
afterAll(() => checkout.close());

const buyBasicPlan = async (fields: object = {}) => await checkout.buy(toBasicOffer(checkout.prices.basic), fields);

describe('GET /v3/processor_a/purchases', () => {
  it('replaces an access token near its end, and accepts the old token for an overlap', async () => {
    const { accessToken } = await buyBasicPlan();
    const read = async (token: string) => await checkout.call(getProcessorPurchases, { accessToken: token });
    await checkout.callControl('/clock', { advance: 'P21D' });
    const { newAccessToken } = (await read(accessToken)).body;
    expect(newAccessToken).toMatch(/^ak_/);
    expect((await read(accessToken)).status).toBe(200);
    await checkout.callControl('/clock', { advance: 'P12D' });
    expect((await read(accessToken)).status).toBe(403);
    expect((await read(newAccessToken)).status).toBe(200);
  });

  it('stores an access token as a digest only', async () => {
    const { accessToken, sessionId } = await buyBasicPlan();
    const digest = createHash('sha256').update(accessToken).digest('hex');
    const item = await getService().table.get({ pk: `${checkout.keys.appName}#A#${digest}`, sk: 'A' });
    expect(item).toMatchObject({ session: sessionId, platform: 'processor_a' });
    expect(JSON.stringify(item)).not.toContain(accessToken);
  });

  it('returns the purchases of a customer to the secret key without an access token', async () => {
    const applicationUsername = createUniqueName('user');
    const { accessToken } = await buyBasicPlan({ applicationUsername });
    await checkout.call(getProcessorPurchases, { accessToken });
    const keys = { ...checkout.keys, publicKey: checkout.keys.secretKey };
    const { body } = await checkout.call(getProcessorPurchases, { applicationUsername }, { keys });
    expect(body.purchases).toMatchObject([{ productId: 'processor_a:prod_basic' }]);
  });

  it('rejects an access token with a viewer key, and changes nothing', async () => {
    const applicationUsername = createUniqueName('user');
    const { accessToken } = await buyBasicPlan({ applicationUsername });
    const { appName } = checkout.keys;
    const { key } = await createApiKey(getService(), appName, {
      level: 'viewer',
      name: 'support',
      now: getService().now(),
    });
    const keys = { ...checkout.keys, publicKey: key };
    // The token is about to be rotated.
    await checkout.callControl('/clock', { advance: 'P21D' });
    const withToken = await checkout.call(getProcessorPurchases, { accessToken, applicationUsername }, { keys });
    expectCheckoutError(withToken, 403, /A viewer key can only read/);
    const read = async () => (await checkout.call(getProcessorPurchases, { applicationUsername }, { keys })).body;
    expect(await read()).toEqual({ ok: true, purchases: [] });
    await checkout.call(getProcessorPurchases, { accessToken });
    expect((await read()).purchases).toMatchObject([{ productId: 'processor_a:prod_basic' }]);
  });

  it('rejects a missing accessToken', async () => {
    expectCheckoutError(await checkout.call(getProcessorPurchases), 400, /accessToken/);
  });

  it('rejects the public key without an access token, even with a username', async () => {
    const response = await checkout.call(getProcessorPurchases, { applicationUsername: 'ann' });
    expectCheckoutError(response, 400, /accessToken/);
  });

  it('rejects a request without an API key', async () => {
    const { accessToken } = await buyBasicPlan();
    expectCheckoutError(await callEndpoint(getProcessorPurchases, { query: { accessToken } }), 401, /[Cc]redentials/);
  });
});
