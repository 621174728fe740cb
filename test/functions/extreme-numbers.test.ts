import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerTransactions } from '../../lib/customers/contract.ts';
import { searchEvents } from '../../lib/events/contract.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['store_a', 'store_b'], { serviceAccount: undefined });
});
afterAll(async () => {
  await service.close();
});

const headers = () => buildBasicAuth(keys.appName, keys.secretKey);

it.each(['1e400', '-1e400', '9007199254740993', '12345678901234567890', '1e-200', '5e-324'])(
  'validateReceipt records an event for a product price of %s',
  async (number) => {
    const user = createUniqueName('user');
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername: user };
    const { validate } = await service.callControl('/purchases', order);
    const offers = [{ id: 'monthly', pricingPhases: [{ priceMicros: 'NUMBER', currency: 'USD' }] }];
    const sent = JSON.stringify({ ...validate, products: [{ id: 'premium', type: 'paid subscription', offers }] });
    const body = sent.replace('"NUMBER"', number);
    const { body: result } = await callEndpoint(validateReceipt, {
      headers: buildBasicAuth(keys.appName, keys.publicKey),
      body,
    });
    expect(result.ok).toBe(true);
    const { body: found } = await callEndpoint(searchEvents, { headers: headers(), params: { tag: user } });
    expect(found.rows).toHaveLength(1);
  },
);

it.each<[unknown, number | null]>([
  [4_990_000, 4_990_000],
  ['4990000', 4_990_000],
  [1_100_000.000_000_1, 1_100_000],
  [-5_000_000_000, null],
  [1e300, null],
  ['1e400', null],
])('validateReceipt converts a reported price of %j to the amount %j', async (priceMicros, amountMicros) => {
  const user = createUniqueName('user');
  const order = {
    platform: 'store_b',
    productId: createUniqueName('gold'),
    type: 'consumable',
    applicationUsername: user,
  };
  const { validate } = await service.callControl('/purchases', order);
  const { body } = await service.validate(keys, { ...validate, priceMicros, currency: 'USD' });
  expect(body.ok).toBe(true);
  const params = { applicationUsername: user };
  const { body: paid } = await callEndpoint(getCustomerTransactions, { headers: headers(), params });
  expect(paid.transactions).toMatchObject([{ amountMicros }]);
});
