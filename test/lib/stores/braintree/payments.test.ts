import { describe, expect, it } from '@jest/globals';
import { startTime } from '../../../../emulator/test/emulator-client.ts';
import { braintree } from '../../../../lib/stores/braintree/braintree.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startFakeBraintree } from './fake-braintree.ts';

const fake = startBeforeAll(startFakeBraintree);

describe('validate (Braintree payment)', () => {
  it('creates the payment and returns it in the format of the client libraries', async () => {
    const { body } = await fake.buy({ applicationUsername: 'Ann' });
    const validation = await fake.validate(body);
    expect(validation.nativeTransaction).toMatchObject({
      data: {
        success: true,
        transaction: { status: 'submitted_for_settlement', customer: { id: expect.any(String) } },
      },
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

  it('charges a nonce once for repeated requests', async () => {
    const { body } = await fake.buy({ applicationUsername: 'Bob' });
    const before = fake.countCharges();
    const first = await fake.validate(body);
    expect(await fake.validate(body)).toEqual(first);
    expect(fake.countCharges() - before).toBe(1);
  });

  it('charges a nonce once for five concurrent requests', async () => {
    const { body } = await fake.buy();
    const before = fake.countCharges();
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => fake.validate(body)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(fake.countCharges() - before).toBe(1);
  });

  it('records every product of a cart, and charges nothing if the cart is not certain', async () => {
    const { body } = await fake.buy({ items: ['full_version'], applicationUsername: 'Eve' });
    const before = fake.countCharges();
    const { observations } = await fake.validate(body);
    expect(observations.map(({ purchase }) => [purchase.productId, purchase.amountMicros])).toEqual([
      ['processor_b:tip_jar', 4_990_000],
      ['processor_b:full_version', 19_990_000],
    ]);
    const replay = await fake.validate({ ...body, id: 'full_version', type: 'non consumable' });
    expect(replay.purchaseId).toBe(observations[1]?.purchase.purchaseId);
    expect(fake.countCharges() - before).toBe(1);
    const [{ refreshToken = {} } = {}] = observations;
    const refreshed = await braintree.refresh?.(refreshToken, fake.createContext());
    expect(refreshed?.map(({ purchase }) => purchase.purchaseId)).toEqual(
      observations.map(({ purchase }) => purchase.purchaseId),
    );
    const { catalogue } = fake.settings('processor_b') as { catalogue: Record<string, object> };
    const other = { ...catalogue, other: catalogue.full_version };
    const uncertain = await fake.buy({ items: ['full_version'] });
    await expect(fake.validate(uncertain.body, fake.createContext({}, { catalogue: other }))).rejects.toMatchObject({
      code: 'InvalidPayload',
    });
    expect(fake.countCharges() - before).toBe(1);
  });

  it.each([
    ['payment', { productId: 'tip_jar', type: 'consumable' }, /\/transactions$/],
    ['subscription', { productId: 'monthly', type: 'paid subscription' }, /\/subscriptions$/],
    ['subscription with a stored payment method', { productId: 'monthly', type: 'paid subscription' }, /\/customers$/],
  ])('recovers a %s whose response was lost', async (_case, order, path) => {
    const { body } = await fake.buy({ ...order, applicationUsername: 'Cid' });
    const before = fake.countCharges();
    fake.loseResponse(path);
    await expect(fake.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    const validation = await fake.validate(body);
    expect(validation.observations[0]?.transactions).toHaveLength(1);
    expect(fake.countCharges() - before).toBe(1);
  });

  it.each([1_000_000, 7_770_000, 500_000_000])('charges a donation of %d micros', async (amountMicros) => {
    const { observations } = await fake.validate((await fake.buy({ productId: 'donation', amountMicros })).body);
    expect(observations[0]?.purchase).toMatchObject({ productId: 'processor_b:donation', amountMicros });
  });

  const donation = { productId: 'donation', amountMicros: 10_000_000 };
  const cart = { items: ['coins'] };
  it.each<[string, object, object?]>([
    ['another price', { priceMicros: 1 }],
    ['another currency', { currency: 'EUR' }],
    ['an unknown product', { id: 'nothing' }],
    ['a product named like an object member', { id: 'constructor' }],
    ['no nonce', { transaction: { type: 'processor_b' } }],
    ['a donation of less than the minimum', { priceMicros: 990_000 }, donation],
    ['a donation of more than the maximum', { priceMicros: 500_010_000 }, donation],
    ['a donation of a fraction of a cent', { priceMicros: 1_005_000 }, donation],
    ['a donation in another currency', { currency: 'EUR' }, donation],
    ['a donation without an amount', { priceMicros: undefined }, donation],
    ['a product at the price of a donation', { priceMicros: 10_000_000 }, { productId: 'full_version' }],
    ['a cart for less than its sum', { priceMicros: 5_970_000 }, cart],
    ['a cart for the price of another item only', { priceMicros: 990_000 }, cart],
    ['a cart for an amount that no items have', { priceMicros: 5_000_000 }, cart],
  ])('rejects %s without a charge', async (_case, changes, order = {}) => {
    const { body } = await fake.buy(order);
    const before = fake.countCharges();
    await expect(fake.validate({ ...body, ...changes })).rejects.toMatchObject({ code: 'InvalidPayload' });
    expect(fake.countCharges()).toBe(before);
  });

  it.each([
    ['the bank', 'fake-processor-declined-visa-nonce', /declined: Do Not Honor/],
    ['the gateway', 'fake-gateway-rejected-fraud-nonce', /rejected: fraud/],
    ['a used nonce', 'fake-consumed-nonce', /more than once/],
    ['an unknown nonce', 'nothing', /Unknown or expired/],
  ])('replays the rejection of %s for the same nonce', async (_case, paymentMethodNonce, message) => {
    const { body } = await fake.buy();
    const transaction = { ...body.transaction, paymentMethodNonce };
    const before = fake.countCharges();
    for (const _attempt of [1, 2]) {
      await expect(fake.validate({ ...body, transaction })).rejects.toMatchObject({
        code: 'InvalidPayload',
        message: expect.stringMatching(message),
      });
    }
    expect(fake.countCharges() - before).toBe(1);
  });

  it('rejects a nonce that was used for another product', async () => {
    const { body } = await fake.buy();
    await fake.validate(body);
    const other = { ...body, id: 'full_version', priceMicros: 19_990_000 };
    await expect(fake.validate(other)).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('reports rejected keys as a settings error', async () => {
    const { body } = await fake.buy();
    const context = fake.createContext({}, { privateKey: 'wrong' });
    await expect(fake.validate(body, context)).rejects.toMatchObject({
      code: 'InternalError',
      message: 'Braintree rejected the settings: publicKey or privateKey is not valid.',
    });
  });

  it.each(['down', 'rate-limited', 'html', 'cut'])(
    'throws ConnectionFailed during the fault %s, and charges the next attempt',
    async (fault) => {
      await fake.validate((await fake.buy({ applicationUsername: 'Fay' })).body);
      const { body } = await fake.buy({ applicationUsername: 'Fay' });
      await fake.addFault({ fault });
      await expect(fake.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
      expect((await fake.validate(body)).observations).toHaveLength(1);
    },
  );
});

describe('checkSettings (Braintree)', () => {
  it('checks the settings at Braintree', async () => {
    expect(await braintree.checkSettings(fake.createContext(), { callStore: true })).toMatch(/accepts the keys/);
    const catalogue = { pro: { type: 'paid subscription', amount: '1.00', currency: 'USD', planId: 'none' } };
    await expect(
      braintree.checkSettings(fake.createContext({}, { catalogue }), { callStore: true }),
    ).rejects.toMatchObject({
      code: 'InternalError',
      message: expect.stringMatching(/planId none of product pro is not found/),
    });
    await expect(
      braintree.checkSettings(fake.createContext({}, { catalogue: 1 }), { callStore: false }),
    ).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});
