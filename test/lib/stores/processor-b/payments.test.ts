import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { processorB } from '../../../../lib/stores/processor-b/processor-b.ts';
import { startTime } from '../../../emulator/emulator-client.ts';
import { type Braintree, useBraintree } from './fake-braintree.ts';

let braintree: Braintree;
beforeAll(async () => {
  braintree = await useBraintree();
});
afterAll(() => braintree.close());

it('makes the payment and tells of it in the shape that clients read', async () => {
  const { body } = await braintree.bought({ applicationUsername: 'Ann' });
  const validation = await braintree.validate(body);
  expect(validation.nativeTransaction).toMatchObject({
    data: { success: true, transaction: { status: 'submitted_for_settlement', customer: { id: expect.any(String) } } },
  });
  const [observation] = validation.observations;
  expect(observation?.purchase).toMatchObject({
    purchaseId: validation.purchaseId,
    transactionId: validation.purchaseId,
    productId: 'processor_b:tip_jar',
    productType: 'consumable',
    sandbox: true,
    purchaseDate: startTime,
    quantity: 1,
    currency: 'USD',
    amountMicros: 4_990_000,
  });
  expect(observation?.transactions).toHaveLength(1);
});

it('charges a nonce once, however often it is validated', async () => {
  const { body } = await braintree.bought({ applicationUsername: 'Bob' });
  const before = braintree.charged();
  const first = await braintree.validate(body);
  expect(await braintree.validate(body)).toEqual(first);
  expect(braintree.charged() - before).toBe(1);
});

it('charges a nonce once when it is validated five times at once', async () => {
  const { body } = await braintree.bought();
  const before = braintree.charged();
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => braintree.validate(body)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(braintree.charged() - before).toBe(1);
});

it.each([
  ['payment', { productId: 'tip_jar', type: 'consumable' }, /\/transactions$/],
  ['subscription', { productId: 'monthly', type: 'paid subscription' }, /\/subscriptions$/],
  [
    'subscription, with its payment method kept',
    { productId: 'monthly', type: 'paid subscription' },
    /payment_methods$/,
  ],
])('finds a %s again whose answer was lost', async (_what, order, path) => {
  const { body } = await braintree.bought({ ...order, applicationUsername: 'Cid' });
  const before = braintree.charged();
  braintree.loseAnswer(path);
  await expect(braintree.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  const validation = await braintree.validate(body);
  expect(validation.observations[0]?.transactions).toHaveLength(1);
  expect(braintree.charged() - before).toBe(1);
});

it('keeps one customer for one user, and another for another', async () => {
  const customer = async (applicationUsername: string) => {
    const { body } = await braintree.bought({ applicationUsername });
    return (await braintree.validate(body)).observations[0]?.userAliases[0];
  };
  expect(await customer('Dora')).toBe(await customer('Dora'));
  expect(await customer('Dora')).not.toBe(await customer('Emil'));
});

it.each<[string, object]>([
  ['another price', { priceMicros: 1 }],
  ['another currency', { currency: 'EUR' }],
  ['an unknown product', { id: 'nothing' }],
  ['a product that every object has', { id: 'constructor' }],
  ['no nonce', { transaction: { type: 'processor_b' } }],
])('refuses %s and charges nothing', async (_what, changes) => {
  const { body } = await braintree.bought();
  const before = braintree.charged();
  await expect(braintree.validate({ ...body, ...changes })).rejects.toMatchObject({ code: 'InvalidPayload' });
  expect(braintree.charged()).toBe(before);
});

it.each([
  ['a processor', 'fake-processor-declined-visa-nonce', /declined: Do Not Honor/],
  ['the gateway', 'fake-gateway-rejected-fraud-nonce', /rejected: fraud/],
  ['a used nonce', 'fake-consumed-nonce', /more than once/],
  ['an unknown nonce', 'nothing', /Unknown or expired/],
])('keeps the refusal of %s as the result of the nonce', async (_what, paymentMethodNonce, message) => {
  const { body } = await braintree.bought();
  const transaction = { ...body.transaction, paymentMethodNonce };
  const before = braintree.charged();
  for (const _time of [1, 2]) {
    await expect(braintree.validate({ ...body, transaction })).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringMatching(message),
    });
  }
  expect(braintree.charged() - before).toBe(1);
});

it('does not take the nonce of one product for another', async () => {
  const { body } = await braintree.bought();
  await braintree.validate(body);
  const other = { ...body, id: 'full_version', priceMicros: 19_990_000 };
  await expect(braintree.validate(other)).rejects.toMatchObject({ code: 'InvalidPayload' });
});

it('calls wrong keys a configuration error', async () => {
  const { body } = await braintree.bought();
  const context = braintree.asking({}, { privateKey: 'wrong' });
  await expect(braintree.validate(body, context)).rejects.toMatchObject({
    code: 'InternalError',
    message: expect.stringMatching(/configuration/),
  });
});

it.each(['down', 'rate-limited', 'html', 'cut'])(
  'calls a gateway that is %s unreachable, and charges later',
  async (fault) => {
    await braintree.validate((await braintree.bought({ applicationUsername: 'Fay' })).body);
    const { body } = await braintree.bought({ applicationUsername: 'Fay' });
    await braintree.addFault({ fault });
    await expect(braintree.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect((await braintree.validate(body)).observations).toHaveLength(1);
  },
);

it('sees a payment that was given back', async () => {
  const { id, body } = await braintree.bought();
  const { observations } = await braintree.validate(body);
  await braintree.act(id, 'refund');
  const [seen] = (await processorB.refresh?.(observations[0]?.refreshToken ?? {}, braintree.asking())) ?? [];
  expect(seen?.purchase).toMatchObject({ endedAt: startTime, cancelationReason: 'Customer' });
});

it('checks the settings with the gateway', async () => {
  expect(await processorB.checkSettings(braintree.asking(), { callStore: true })).toMatch(/accepts the keys/);
  const catalogue = { pro: { type: 'paid subscription', amount: '1.00', currency: 'USD', planId: 'none' } };
  await expect(
    processorB.checkSettings(braintree.asking({}, { catalogue }), { callStore: true }),
  ).rejects.toMatchObject({ code: 'InternalError', message: expect.stringMatching(/no plan none/) });
  await expect(
    processorB.checkSettings(braintree.asking({}, { catalogue: 1 }), { callStore: false }),
  ).rejects.toMatchObject({ code: 'InvalidPayload' });
});
