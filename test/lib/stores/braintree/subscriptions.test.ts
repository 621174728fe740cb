import { describe, expect, it } from '@jest/globals';
import { startTime } from '../../../../emulator/test/emulator-client.ts';
import { dayMs, hourMs } from '../../../../lib/foundation/time.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { braintree } from '../../../../lib/stores/braintree/braintree.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startFakeBraintree } from './fake-braintree.ts';

const fake = startBeforeAll(startFakeBraintree);

/** Validates a subscription. Returns its first observation and functions that refresh it. */
async function subscribe(order: object = {}) {
  const { id, body } = await fake.buy({
    productId: 'monthly',
    type: 'paid subscription',
    applicationUsername: 'Ann',
    ...order,
  });
  const { nativeTransaction, observations } = await fake.validate(body);
  const [first] = observations as [Observation];
  const refresh = async () => {
    const [observation] = (await braintree.refresh?.(first.refreshToken ?? {}, fake.createContext())) ?? [];
    return observation as Observation;
  };
  const refreshAfter = async (...actions: string[]) => {
    for (const action of actions) expect((await fake.act(id, action)).status).toBe(200);
    return (await refresh()).purchase;
  };
  return { id, native: nativeTransaction, first, refresh, refreshAfter };
}

describe('validate (Braintree subscription)', () => {
  it('creates a subscription with its first payment', async () => {
    const { native, first } = await subscribe();
    expect(native).toMatchObject({ data: { success: true, transaction: { customer: { id: expect.any(String) } } } });
    expect(first.purchase).toMatchObject({
      productType: 'paid subscription',
      purchaseDate: startTime,
      expirationDate: Date.parse('2027-03-01T06:00:00Z'),
      renewalIntent: 'Renew',
      currency: 'USD',
      amountMicros: 9_990_000,
    });
    expect(first.purchase).not.toHaveProperty('lastRenewalDate');
  });

  it('ends the last paid day in the westernmost time zone if the settings lack the one of the gateway', async () => {
    const { body } = await fake.buy({ productId: 'monthly', type: 'paid subscription' });
    const { observations } = await fake.validate(body, fake.createContext({}, { timeZone: undefined }));
    expect(observations[0]?.purchase.expirationDate).toBe(Date.parse('2027-03-01T12:00:00Z'));
  });

  it('returns the customer of a free trial without a payment', async () => {
    const { native, first } = await subscribe({ trial: 'P7D' });
    expect(native).toMatchObject({ data: { success: true, transaction: { customer: { id: expect.any(String) } } } });
    expect(first.purchase).toMatchObject({ isTrialPeriod: true, expirationDate: Date.parse('2027-02-08T06:00:00Z') });
    const expirationDate = Date.parse('2027-02-07T06:00:00Z');
    expect(first.transactions).toMatchObject([{ amountMicros: 0, isTrialPeriod: true, expirationDate }]);
  });
});

describe('refresh (Braintree subscription)', () => {
  it('returns a renewal', async () => {
    const { refreshAfter, refresh } = await subscribe();
    const { lastRenewalDate, expirationDate } = await refreshAfter('renew');
    expect(expirationDate).toBe(Date.parse('2027-04-01T05:00:00Z'));
    expect(new Date(Number(lastRenewalDate) - 6 * hourMs).toISOString()).toMatch(/^2027-02-28/);
    expect((await refresh()).transactions.map((transaction) => transaction.expirationDate)).toEqual([
      Date.parse('2027-03-31T05:00:00Z'),
      Date.parse('2027-02-28T06:00:00Z'),
    ]);
  });

  it('returns the product of a new plan, and the former one for the earlier payment', async () => {
    const { id, refresh } = await subscribe();
    await fake.buy({ productId: 'better', type: 'paid subscription', priceMicros: 19_990_000 });
    fake.clock.set(startTime + dayMs);
    const { status } = await fake.act(id, 'change-plan', { productId: 'better' });
    fake.clock.set(startTime);
    expect(status).toBe(200);
    const { purchase, transactions } = await refresh();
    expect(purchase.productId).toBe('processor_b:better');
    expect(transactions.map(({ productId }) => productId)).toEqual(['processor_b:better', 'processor_b:monthly']);
  });

  it('grants the configured grace period while a payment is overdue', async () => {
    const { refreshAfter } = await subscribe();
    const pastDue = await refreshAfter('fail-payment');
    expect(pastDue).toMatchObject({
      isBillingRetryPeriod: true,
      renewalIntent: 'Renew',
      expirationDate: Date.parse('2027-03-07T06:00:00Z'),
    });
    expect(pastDue).not.toHaveProperty('lastRenewalDate');
    expect(await refreshAfter('recover')).not.toHaveProperty('isBillingRetryPeriod');
  });

  it('reports a billing error for a cancelation while a payment is overdue', async () => {
    expect(await (await subscribe()).refreshAfter('fail-payment', 'cancel')).toMatchObject({
      cancelationReason: 'System.BillingError',
      renewalIntent: 'Lapse',
    });
  });
});

describe('validate (Braintree settings)', () => {
  it('reports an unknown plan as a settings error', async () => {
    const { body } = await fake.buy({ productId: 'monthly', type: 'paid subscription' });
    const catalogue = { monthly: { type: 'paid subscription', amount: '9.99', currency: 'USD', planId: 'none' } };
    await expect(fake.validate(body, fake.createContext({}, { catalogue }))).rejects.toMatchObject({
      code: 'InternalError',
      message: expect.stringMatching(/^Braintree rejected the settings: /),
    });
  });
});
