import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deps } from '../../lib/deps.ts';
import { openTestShop, type TestShop } from './checkout-fixture.ts';

let shop: TestShop;
beforeAll(async () => {
  shop = await openTestShop();
});
afterAll(() => shop.close());

const month = (price: string) => `processor_a:prod_basic#${price}`;

describe('an access token', () => {
  it('is replaced when it is near its end, and the old one goes on for a while', async () => {
    const { accessToken } = await shop.buy(month(shop.prices.basic));
    await shop.callControl('/clock', { advance: 'P21D' });
    const { body } = await shop.ask('purchases', { accessToken });
    expect(body.newAccessToken).toMatch(/^ak_/);
    expect((await shop.ask('purchases', { accessToken })).status).toBe(200);
    await shop.callControl('/clock', { advance: 'P12D' });
    expect((await shop.ask('purchases', { accessToken })).status).toBe(403);
    expect((await shop.ask('purchases', { accessToken: body.newAccessToken })).status).toBe(200);
  });

  it('is kept as a digest only', async () => {
    const { accessToken, sessionId } = await shop.buy(month(shop.prices.basic));
    const digest = createHash('sha256').update(accessToken).digest('hex');
    const item = await deps().table.get({ pk: `${shop.keys.appName}#A#${digest}`, sk: 'A' });
    expect(item).toMatchObject({ session: sessionId, platform: 'processor_a' });
    expect(JSON.stringify(item)).not.toContain(accessToken);
  });

  it('gives way to the secret key, with which a user is named', async () => {
    const user = 'token-user';
    const { accessToken } = await shop.buy(month(shop.prices.basic), { applicationUsername: user });
    await shop.ask('purchases', { accessToken });
    const secret = { ...shop.keys, publicKey: shop.keys.secretKey };
    const { body } = await shop.ask('purchases', { applicationUsername: user }, { keys: secret });
    expect(body.purchases).toMatchObject([{ productId: 'processor_a:prod_basic' }]);
  });
});
