import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { toNotificationReason } from '../../../../lib/stores/store-c/notification-reason.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { type Microsoft, start, useMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());

it.each([
  ['Revoked', 'REFUNDED'],
  ['Returned', 'REFUNDED'],
  ['Refunded', 'REFUNDED'],
  ['ChargebackReversal', 'OTHER'],
  ['A state of next year', 'OTHER'],
  ['constructor', 'OTHER'],
])('a clawback that is %s is told as %s', (state, reason) => {
  expect(toNotificationReason(state)).toBe(reason);
});

/** A purchase that the table knows as it was validated, with changes since, and an event about it an hour later. */
async function clawedBack(
  state: string,
  { order = {}, known = {}, paid = {} }: { order?: object; known?: object; paid?: object } = {},
) {
  microsoft.clock.set(start);
  const { body } = await microsoft.bought({ type: 'paid subscription', productId: state, ...order });
  const [observation] = (await microsoft.validate(body)).observations as [Observation];
  const purchase = { ...observation.purchase, ...known };
  const [payment] = observation.transactions.map((transaction) => ({ ...transaction, ...paid })) as [Transaction];
  const context: StoreContext = {
    ...microsoft.asking(),
    findPurchase: async (id) => (id === purchase.purchaseId ? purchase : undefined),
    findRefreshToken: async (id) => (id === purchase.purchaseId ? observation.refreshToken : undefined),
    listTransactions: async (id) => (id === purchase.purchaseId ? [payment] : []),
  };
  const eventDate = start + 3_600_000;
  const { purchaseId, transactionId } = purchase;
  const content = { state, eventDate, purchaseId, transactionId, messageId: 'id', popReceipt: 'receipt' };
  const observe = async (changes: object = {}) => {
    const message = { key: 'event', type: `clawback.${state}`, at: start, content: { ...content, ...changes } };
    return await storeC.observe?.(JSON.parse(JSON.stringify(message)), context);
  };
  return { observe, purchase, payment, eventDate, asking: context };
}

const soon = async () => await microsoft.advance('PT2H');
const afterTheKey = async () => await microsoft.advance('P31D');

describe('a clawback', () => {
  it.each(['Revoked', 'Returned'])(
    'that is %s ends the purchase, although the store does not say so yet',
    async (state) => {
      const { observe, payment, eventDate } = await clawedBack(state);
      await soon();
      const ended = { endedAt: eventDate, cancelationReason: 'Customer', renewalIntent: 'Lapse' };
      expect(await observe()).toMatchObject({
        reason: 'REFUNDED',
        observations: [{ purchase: ended, transactions: [{ ...payment, refundedAt: eventDate }] }],
      });
    },
  );

  it('that is Refunded leaves the customer what was bought', async () => {
    const { observe, payment, eventDate } = await clawedBack('Refunded');
    await soon();
    const [look] = (await observe())?.observations ?? [];
    expect(look?.purchase).not.toHaveProperty('endedAt');
    expect(look?.transactions).toMatchObject([{ ...payment, refundedAt: eventDate }]);
  });

  it('tells of the refund when the key has expired and the store cannot be asked', async () => {
    const { observe, purchase, eventDate } = await clawedBack('Revoked');
    await afterTheKey();
    expect(await observe()).toMatchObject({
      observations: [
        {
          asOf: microsoft.clock.now(),
          purchase: { ...purchase, endedAt: eventDate, cancelationReason: 'Customer', renewalIntent: 'Lapse' },
          transactions: [{ refundedAt: eventDate }],
        },
      ],
    });
  });

  it.each([
    ['which the store shows', soon],
    ['which only the table knows', afterTheKey],
  ])('that was reversed gives back what was taken away, %s', async (_what, later) => {
    const ended = { endedAt: start, cancelationReason: 'Customer' };
    const { observe } = await clawedBack('ChargebackReversal', { known: ended, paid: { refundedAt: start } });
    await later();
    const noticed = await observe();
    const [look] = noticed?.observations ?? [];
    expect(noticed?.reason).toBe('OTHER');
    expect(look?.purchase).not.toHaveProperty('endedAt');
    expect(look?.purchase).not.toHaveProperty('cancelationReason');
    expect(look?.transactions).toHaveLength(1);
    expect(look?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it('that is not known changes nothing that is known of the money', async () => {
    const { observe } = await clawedBack('Pondered', { paid: { refundedAt: start } });
    await soon();
    expect(await observe()).toMatchObject({
      reason: 'OTHER',
      observations: [{ transactions: [{ refundedAt: start }] }],
    });
  });

  it.each([
    ['the start of its period', start + 60_000, true],
    ['another period', start + 31 * 86_400_000, false],
  ])('finds the payment of a subscription by %s', async (_what, periodStart, isFound) => {
    const { observe } = await clawedBack('Revoked');
    await soon();
    const [look] = (await observe({ transactionId: undefined, periodStart }))?.observations ?? [];
    expect(look?.transactions.map(({ refundedAt }) => refundedAt !== undefined)).toEqual([isFound]);
    expect(look?.purchase.endedAt !== undefined).toBe(isFound);
  });

  it('of a purchase that is not known tells nothing', async () => {
    const { observe } = await clawedBack('Revoked');
    expect(await observe({ purchaseId: 'store_c:another' })).toEqual({ reason: 'REFUNDED', observations: [] });
  });

  it('is tried again while the store cannot be asked', async () => {
    const { observe } = await clawedBack('Revoked');
    await microsoft.addFault({ fault: 'down', times: 5 });
    await expect(observe()).rejects.toMatchObject({ code: 'ConnectionFailed' });
    await microsoft.control('DELETE', '/control/faults');
  });
});

describe('a refund that is known', () => {
  it('is kept by looks that show none, with the end of what was used up', async () => {
    const {
      asking: context,
      eventDate,
      purchase,
    } = await clawedBack('Kept', {
      order: { type: 'consumable', quantity: 1 },
      known: { endedAt: start + 3_600_000, cancelationReason: 'Customer' },
      paid: { refundedAt: start + 3_600_000 },
    });
    const validation = await storeC.validate(
      await microsoft.bodyOf(purchase.purchaseId.slice('store_c:'.length)),
      context,
    );
    expect(validation.observations).toMatchObject([
      { purchase: { endedAt: eventDate, cancelationReason: 'Customer' }, transactions: [{ refundedAt: eventDate }] },
    ]);
  });
});
