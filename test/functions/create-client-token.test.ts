import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClientToken } from '../../lib/api/processor-b.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { callWithPublicKey } from '../../testing/call.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['processor_b']);
});
afterAll(() => service.close());

const call = async (body: object, path?: string) =>
  await callWithPublicKey(createClientToken, keys, { body, ...(path && { path }) });

describe('POST /v3/processor_b/client-token', () => {
  it.each([
    ['a new customer', { applicationUsername: 'user-42' }],
    ['a request without a username', {}],
    ['a client that sends null as customer id', { applicationUsername: 'user-42', customerId: null }],
  ])('returns a client token for %s', async (_description, body) => {
    const response = await call(body);
    expect(response).toMatchObject({ status: 200, body: { success: true, clientToken: expect.any(String) } });
  });

  it('accepts the brand path of existing clients', async () => {
    expect((await call({}, '/v3/braintree/client-token')).body.success).toBe(true);
  });

  it('rejects an unknown Braintree customer with status 200 and a message', async () => {
    const { status, body } = await call({ applicationUsername: 'user-42', customerId: 'nobody' });
    expect(status).toBe(200);
    expect(body).toEqual({ success: false, message: expect.stringMatching(/customer/) });
  });

  it('returns a client token for the Braintree customer of a validated purchase', async () => {
    const order = { platform: 'processor_b', productId: 'tip_jar', type: 'consumable', applicationUsername: 'user-42' };
    const { validate } = await service.callControl('/purchases', { ...order, form: 'brand' });
    const { body } = await service.validate(keys, validate);
    expect(body).toMatchObject({ ok: true, data: { id: 'tip_jar', transaction: { type: 'braintree' } } });
    const { id: customerId } = body.data.transaction.data.transaction.customer;
    expect((await call({ applicationUsername: 'user-42', customerId })).body.success).toBe(true);
    const repeated = await service.validate(keys, validate);
    expect(repeated.body.data.transaction).toEqual(body.data.transaction);
  });
});
