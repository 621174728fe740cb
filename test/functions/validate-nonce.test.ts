import { describe, expect, it } from '@jest/globals';
import { setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { errorCodes } from '../../lib/foundation/errors.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
const keys = startBeforeAll(async () => await service.createApp(['processor_b']));

const lifetime = { platform: 'processor_b', productId: 'full_version', type: 'non consumable' };

/** Creates a nonce for a new user, and functions that validate it for the user and for other users. */
async function givenNonce(order: object = lifetime) {
  const username = createUniqueName('user');
  const { id, validate: request } = await service.callControl('/purchases', {
    ...order,
    applicationUsername: username,
  });
  const validateAs = async (applicationUsername: string) =>
    (await service.validate(keys, { ...request, additionalData: { applicationUsername } })).body;
  return {
    username,
    validateAs,
    validate: () => validateAs(username),
    act: (action: string, details: object = {}) => service.callControl(`/purchases/${id}/${action}`, details),
  };
}

const addFault = (times: number) => service.callControl('/faults', { platform: 'processor_b', fault: 'down', times });

const expired = { ok: false, code: errorCodes.PurchaseExpired.number };
const unavailable = { ok: false, code: errorCodes.ConnectionFailed.number };

describe('POST /v1/validate (Braintree nonce)', () => {
  it('returns the current state of a nonce that is submitted again after five minutes', async () => {
    const { validate, act } = await givenNonce();
    expect(await validate()).toMatchObject({ ok: true });
    await act('refund');
    await service.callControl('/clock', { advance: 'PT5M' });
    expect(await validate()).toMatchObject(expired);
  });

  it('charges a nonce that is submitted five times at once, and returns five equal responses', async () => {
    const { validate } = await givenNonce();
    const responses = await Promise.all(Array.from({ length: 5 }, validate));
    expect(responses[0]).toMatchObject({ ok: true });
    const withoutDate = responses.map(({ data: { date: _date, ...data } }) => data);
    expect(withoutDate).toEqual(withoutDate.map(() => withoutDate[0]));
  });

  it('returns the stored state of a nonce that is submitted again immediately', async () => {
    const { validate } = await givenNonce();
    await validate();
    await addFault(1);
    const { ok, data } = await validate();
    expect(ok).toBe(true);
    expect(data).not.toHaveProperty('warning');
    await service.clearFaults();
  });

  it('returns the last verified state with a warning to the buyer during an outage', async () => {
    const { validate } = await givenNonce();
    await validate();
    await service.callControl('/clock', { advance: 'PT5M' });
    await addFault(1);
    expect(await validate()).toMatchObject({ ok: true, data: { warning: expect.stringMatching(/unavailable/) } });
  });

  it('queries the state before another user is entitled by the same nonce', async () => {
    const { validate, validateAs, act } = await givenNonce();
    await validate();
    const other = createUniqueName('user');
    await addFault(1);
    expect(await validateAs(other)).toMatchObject(unavailable);
    const listPurchases = async () =>
      (await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: other } })).body.purchases;
    expect(await listPurchases()).toEqual({});
    expect(await validateAs(other)).toMatchObject({ ok: true });
    await act('refund');
    expect(await validateAs(createUniqueName('user'))).toMatchObject(expired);
  });

  it('returns a purchase after the product got another price or was removed from the catalogue', async () => {
    const { validate } = await givenNonce();
    expect(await validate()).toMatchObject({ ok: true });
    const settings = await service.callControl('/settings/processor_b');
    for (const catalogue of [{ full_version: { type: 'non consumable', amount: '29.99', currency: 'USD' } }, {}]) {
      await setStoreSettings(getService(), keys.appName, 'processor_b', { ...settings, catalogue });
      await service.callControl('/clock', { advance: 'PT5M' });
      expect(await validate()).toMatchObject({ ok: true });
    }
    await setStoreSettings(getService(), keys.appName, 'processor_b', settings);
  });
});
