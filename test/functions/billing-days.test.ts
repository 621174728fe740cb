import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { hourMs, minuteMs } from '../../lib/foundation/time.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

/** Evening of 9 January in the gateway's time zone, America/Chicago. */
const start = Date.parse('2027-01-10T02:00:00Z');

/** Start of the next billing day, 9 February. */
const billingDay = Date.parse('2027-02-09T06:00:00Z');

const service = startBeforeAll(startTestService);
beforeAll(async () => {
  await setClock(start);
});

const setClock = (ms: number) => service.callControl('/clock', { set: new Date(ms).toISOString() });

async function subscribe(keys: IssuedApiKeys, order: object = {}) {
  const monthly = { platform: 'processor_b', productId: 'monthly', type: 'paid subscription' };
  const { id, validate: request } = await service.callControl('/purchases', {
    ...monthly,
    applicationUsername: createUniqueName('user'),
    ...order,
  });
  const validate = async () => {
    const { body } = await service.validate(keys, request);
    if (!body.ok) throw new Error(body.message);
    return `processor_b:${body.data.collection[0].purchaseId}`;
  };
  const purchaseId = await validate();
  return {
    act: (action: string) => service.callControl(`/purchases/${id}/${action}`, {}),
    validate,
    fetchPurchase: async () => (await callWithSecretKey(getPurchase, keys, { params: { purchaseId } })).body,
  };
}

describe('billing day of Braintree', () => {
  it.each([
    ['in the time zone of the settings', {}, billingDay],
    ['in the westernmost time zone without a setting', { timeZone: undefined }, billingDay + 6 * hourMs],
  ])('ends a canceled subscription after the last paid day %s', async (_case, settings, end) => {
    const keys = await service.createApp(['processor_b'], settings);
    const { act, validate, fetchPurchase } = await subscribe(keys);
    await act('cancel');
    await service.callControl('/clock', { advance: 'PT5M' });
    await validate();
    expect(await fetchPurchase()).toMatchObject({ isExpired: false, expirationDate: new Date(end).toISOString() });
  });

  it('keeps a renewing subscription active until the gateway had a day to bill it', async () => {
    const keys = await service.createApp(['processor_b']);
    const { fetchPurchase, validate } = await subscribe(keys, { autoRenew: true });
    for (let at = billingDay - hourMs; at < billingDay + 24 * hourMs; at += hourMs) {
      await setClock(at);
      expect(await fetchPurchase()).toMatchObject({ isExpired: false });
    }
    await setClock(billingDay + 24 * hourMs - minuteMs);
    await validate();
    expect(await fetchPurchase()).toMatchObject({
      isExpired: false,
      lastRenewalDate: expect.stringMatching(/^2027-02-(?:09|10)T/),
      expirationDate: '2027-03-10T06:00:00.000Z',
    });
  });
});
