import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { processorB } from '../../../../lib/stores/processor-b/processor-b.ts';
import { type Braintree, useBraintree } from './fake-braintree.ts';

let braintree: Braintree;
beforeAll(async () => {
  braintree = await useBraintree();
});
afterAll(() => braintree.close());

/** A subscription that was validated, and how the store sees it after each action. */
async function subscribed(order: object = {}) {
  const { id, body } = await braintree.bought({
    productId: 'monthly',
    type: 'paid subscription',
    applicationUsername: 'Ann',
    ...order,
  });
  const { nativeTransaction, observations } = await braintree.validate(body);
  const [first] = observations as [Observation];
  const seen = async () => {
    const [look] = (await processorB.refresh?.(first.refreshToken ?? {}, braintree.asking())) ?? [];
    return look as Observation;
  };
  const after = async (...actions: string[]) => {
    for (const action of actions) expect((await braintree.act(id, action)).status).toBe(200);
    return (await seen()).purchase;
  };
  return { native: nativeTransaction, first, seen, after };
}

it('starts a subscription with its first payment', async () => {
  const { native, first } = await subscribed();
  expect(native).toMatchObject({ data: { success: true, transaction: { customer: { id: expect.any(String) } } } });
  expect(first.purchase).toMatchObject({
    productType: 'paid subscription',
    purchaseDate: Date.parse('2027-01-31'),
    expirationDate: Date.parse('2027-02-28'),
    renewalIntent: 'Renew',
    currency: 'USD',
    amountMicros: 9_990_000,
  });
  expect(first.purchase).not.toHaveProperty('lastRenewalDate');
});

it('tells the customer of a trial, too, although nothing was paid', async () => {
  const { native, first } = await subscribed({ trial: 'P7D' });
  expect(native).toMatchObject({ data: { success: true, transaction: { customer: { id: expect.any(String) } } } });
  expect(first.purchase).toMatchObject({ isTrialPeriod: true, expirationDate: Date.parse('2027-02-08') });
  expect(first.transactions).toMatchObject([{ amountMicros: 0, isTrialPeriod: true }]);
});

it('sees a renewal', async () => {
  const { after, seen } = await subscribed();
  expect(await after('renew')).toMatchObject({
    lastRenewalDate: Date.parse('2027-02-28'),
    expirationDate: Date.parse('2027-03-31'),
  });
  expect((await seen()).transactions).toHaveLength(2);
});

it('sees a cancelation as the wish of the customer, with what is paid for left', async () => {
  expect(await (await subscribed()).after('cancel')).toMatchObject({
    renewalIntent: 'Lapse',
    cancelationReason: 'Customer',
    renewalIntentChangeDate: expect.any(Number),
    expirationDate: Date.parse('2027-02-28'),
  });
});

it('gives the days of grace of the settings while a payment is overdue, and ends them with the payment', async () => {
  const { after } = await subscribed();
  expect(await after('fail-payment')).toMatchObject({
    isBillingRetryPeriod: true,
    renewalIntent: 'Renew',
    expirationDate: Date.parse('2027-03-07'),
  });
  expect(await after('recover')).not.toHaveProperty('isBillingRetryPeriod');
});

it('blames the payment for a cancelation while one was overdue', async () => {
  expect(await (await subscribed()).after('fail-payment', 'cancel')).toMatchObject({
    cancelationReason: 'System.BillingError',
    renewalIntent: 'Lapse',
  });
});

it('gives no reason for a subscription that ran its course', async () => {
  const purchase = await (await subscribed()).after('expire');
  expect(purchase.renewalIntent).toBe('Lapse');
  expect(purchase).not.toHaveProperty('cancelationReason');
});

it('ends a subscription whose last payment was given back', async () => {
  const purchase = await (await subscribed()).after('refund');
  expect(purchase).toMatchObject({ cancelationReason: 'Customer', endedAt: expect.any(Number) });
});

it('calls a plan that the gateway has not a configuration error', async () => {
  const { body } = await braintree.bought({ productId: 'monthly', type: 'paid subscription' });
  const catalogue = { monthly: { type: 'paid subscription', amount: '9.99', currency: 'USD', planId: 'none' } };
  await expect(braintree.validate(body, braintree.asking({}, { catalogue }))).rejects.toMatchObject({
    code: 'InternalError',
    message: expect.stringMatching(/configuration/),
  });
});
