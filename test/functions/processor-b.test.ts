import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createClientToken } from '../../lib/api/processor-b.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['processor_b']);
});
afterAll(() => service.close());

const token = (body: object, path?: string) =>
  callEndpoint(createClientToken, {
    headers: buildBasicAuth(keys.appName, keys.publicKey),
    body,
    ...(path && { path }),
  });

it.each([
  ['a new user', { applicationUsername: 'user-42' }],
  ['nobody yet', {}],
  ['a client that has no customer id', { applicationUsername: 'user-42', customerId: null }],
])('makes a client token for %s', async (_who, body) => {
  const response = await token(body);
  expect(response).toMatchObject({ status: 200, body: { success: true, clientToken: expect.any(String) } });
});

it('answers at the path of clients that exist today', async () => {
  expect((await token({}, '/v3/braintree/client-token')).body.success).toBe(true);
});

it('answers an unknown customer with 200 and a message', async () => {
  const { status, body } = await token({ applicationUsername: 'user-42', customerId: 'nobody' });
  expect(status).toBe(200);
  expect(body).toEqual({ success: false, message: expect.stringMatching(/customer/) });
});

it('makes a token for the customer of a purchase, which a client of today makes', async () => {
  const order = { platform: 'processor_b', productId: 'tip_jar', type: 'consumable', applicationUsername: 'user-42' };
  const { validate } = await service.callControl('/purchases', { ...order, form: 'brand' });
  const { body } = await service.validate(keys, validate);
  expect(body).toMatchObject({ ok: true, data: { id: 'tip_jar', transaction: { type: 'braintree' } } });
  const { id: customerId } = body.data.transaction.data.transaction.customer;
  expect((await token({ applicationUsername: 'user-42', customerId })).body.success).toBe(true);
  const again = await service.validate(keys, validate);
  expect(again.body.data.transaction).toEqual(body.data.transaction);
});
