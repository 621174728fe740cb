import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import { isExpired } from '../../../../lib/purchases/purchase.ts';
import { type Microsoft, start, useMicrosoft } from './microsoft.ts';

const day = 86_400_000;
const monthEnd = Date.parse('2027-02-28T10:00:00Z');
const nextMonthEnd = Date.parse('2027-03-31T10:00:00Z');

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());
beforeEach(() => microsoft.clock.set(start));

type Step = readonly [action: string, details?: object] | string;

let bought = 0;

/** Lives a purchase through the steps and looks at it. */
async function live(steps: readonly Step[], order: object = {}) {
  bought += 1;
  const { id } = await microsoft.bought({ productId: `product ${bought}`, ...order });
  for (const step of steps) {
    const { status } = typeof step === 'string' ? await microsoft.advance(step) : await microsoft.act(id, ...step);
    expect(status).toBe(200);
  }
  const { purchase, transactions } = await microsoft.seen(id);
  const { purchaseId, transactionId } = purchase;
  const renewal = transactionId.slice(purchaseId.length);
  return { purchase, transactions, renewal, expired: isExpired(purchase, microsoft.clock.now()) };
}

const running = { expired: false, purchase: { renewalIntent: 'Renew', expirationDate: monthEnd } };
const over = (more: object) => ({ expired: true, purchase: { renewalIntent: 'Lapse', ...more } });

describe('a subscription', () => {
  test.each<[string, readonly Step[], object, object]>([
    [
      'is active when bought, and its first payment has its id',
      [],
      {},
      { ...running, renewal: '', transactions: [{ purchaseDate: start, expirationDate: monthEnd }] },
    ],
    [
      'has another payment when it renews',
      [['renew']],
      {},
      {
        expired: false,
        renewal: ':2027-03-31',
        purchase: { purchaseDate: start, lastRenewalDate: monthEnd, expirationDate: nextMonthEnd },
        transactions: [{ purchaseDate: monthEnd, expirationDate: nextMonthEnd }],
      },
    ],
    ['renews by itself', ['P2M'], { autoRenew: true }, { expired: false, renewal: ':2027-04-30' }],
    [
      'goes on when cancelled, and tells when',
      ['PT1H', ['cancel']],
      {},
      {
        expired: false,
        purchase: { renewalIntent: 'Lapse', renewalIntentChangeDate: start + 3_600_000, expirationDate: monthEnd },
      },
    ],
    ['renews again when the cancellation is taken back', [['cancel'], ['uncancel']], {}, running],
    [
      'expires by its date, before its state says so',
      [['cancel'], 'P1M', 'PT1M'],
      {},
      over({ expirationDate: monthEnd }),
    ],
    ['was ended by the customer', [['cancel'], 'P1M', 'P1D'], {}, over({ cancelationReason: 'Customer' })],
    [
      'keeps access while a payment is retried',
      [['fail-payment'], 'P1M'],
      {},
      {
        expired: false,
        renewal: '',
        purchase: { isBillingRetryPeriod: true, expirationDate: monthEnd + 14 * day, renewalIntent: 'Renew' },
      },
    ],
    [
      'ends for want of payment',
      [['fail-payment'], 'P1M', 'P15D'],
      {},
      over({ cancelationReason: 'System.BillingError', isBillingRetryPeriod: false }),
    ],
    [
      'goes on without a gap when a payment succeeds at last',
      ['P1M', ['fail-payment'], 'P3D', ['recover']],
      {},
      { expired: false, renewal: ':2027-03-31', purchase: { lastRenewalDate: monthEnd, isBillingRetryPeriod: false } },
    ],
    [
      'is in the grace period although its state says active',
      ['P1M', 'PT1M'],
      {},
      { expired: false, purchase: { expirationDate: monthEnd + 14 * day, isBillingRetryPeriod: true } },
    ],
    ['ends when refunded', ['P1D', ['refund']], {}, over({ cancelationReason: 'Unknown', endedAt: start + day })],
    ['ends when revoked', [['revoke']], {}, over({ cancelationReason: 'Unknown' })],
    [
      'ends when expired',
      ['P1D', ['expire']],
      {},
      over({ expirationDate: start + day, cancelationReason: 'Customer' }),
    ],
    [
      'is free in its trial',
      [],
      { trial: 'P1W' },
      {
        renewal: '',
        purchase: { isTrialPeriod: true, expirationDate: start + 7 * day },
        transactions: [{ isTrialPeriod: true, amountMicros: 0, currency: 'USD', isReportedAmount: true }],
      },
    ],
    [
      'is paid after its trial',
      [['renew']],
      { trial: 'P1W' },
      { renewal: ':2027-03-07', purchase: { isTrialPeriod: false, lastRenewalDate: start + 7 * day } },
    ],
    ['renews after a year', [['renew']], { period: 'P1Y' }, { renewal: ':2029-01-31' }],
    ['has a first year', [], { period: 'P1Y' }, { renewal: '', purchase: { expirationDate: start + 365 * day } }],
  ])('%s', async (_what, steps, order, expected) => {
    expect(await live(steps, { type: 'paid subscription', ...order })).toMatchObject(expected);
  });

  it('has no amount but the one that the client tells', async () => {
    const { transactions } = await live([], { priceMicros: 1_990_000, currency: 'EUR' });
    expect(transactions).toMatchObject([{ amountMicros: 1_990_000, currency: 'EUR', isReportedAmount: true }]);
  });
});

describe('an item', () => {
  test.each<[string, readonly Step[], object, object]>([
    [
      'for ever is no subscription',
      [],
      { type: 'non consumable' },
      { expired: false, purchase: { productType: 'non consumable', purchaseDate: start, quantity: 1 } },
    ],
    [
      'that was refunded is taken back',
      ['P1D', ['refund']],
      { type: 'non consumable' },
      {
        expired: true,
        purchase: { cancelationReason: 'Customer', endedAt: start + day },
        transactions: [{ refundedAt: start + day }],
      },
    ],
    [
      'in its trial has an end',
      [],
      { type: 'non consumable', trial: 'P1W' },
      { expired: false, purchase: { isTrialPeriod: true, expirationDate: start + 7 * day } },
    ],
    [
      'of some time ends',
      ['P1M', 'PT1M'],
      { type: 'non renewing subscription', period: 'P1M' },
      { expired: true, purchase: { productType: 'non renewing subscription', expirationDate: monthEnd } },
    ],
    [
      'that the developer manages is not consumed while it is there',
      [],
      { type: 'consumable' },
      { purchase: { productType: 'consumable', isConsumed: false, quantity: 1 } },
    ],
    [
      'that the store counts tells what is left',
      [],
      { type: 'consumable', quantity: 3 },
      { purchase: { productType: 'consumable', isConsumed: false, quantity: 3 } },
    ],
  ])('%s', async (_what, steps, order, expected) => {
    const lived = await live(steps, order);
    expect(lived).toMatchObject(expected);
    expect(lived.purchase).not.toHaveProperty('renewalIntent');
  });

  it('in the sandbox is found there and marked, and not without the setting', async () => {
    const { id, body } = await microsoft.bought({ type: 'non consumable', productId: 'tested', sandbox: true });
    expect(await microsoft.validate(body)).toMatchObject({
      purchaseId: `store_c:${id}`,
      observations: [{ purchase: { sandbox: true }, refreshToken: { sandboxId: 'XDKS.1' } }],
    });
    const { sandboxId: _none, ...settings } = microsoft.settings('store_c');
    const asking = { ...microsoft.asking(), settings };
    const { storeC } = await import('../../../../lib/stores/store-c/store-c.ts');
    expect((await storeC.validate(body, asking)).observations).toEqual([]);
  });

  it('that is not owned is an answer without a purchase', async () => {
    const { body } = await microsoft.bought({ type: 'non consumable', productId: 'owned' });
    const other = { ...body, id: 'other', transaction: { ...body.transaction, storeId: 'other' } };
    const validation = await microsoft.validate(other);
    expect(validation).toEqual(expect.objectContaining({ id: 'other', observations: [], native: {} }));
    expect(validation).not.toHaveProperty('purchaseId');
  });

  it("is found by the developer's name of it", async () => {
    const { id, body } = await microsoft.bought({ type: 'non consumable', productId: 'full-version' });
    const { storeId: _unknown, ...transaction } = body.transaction;
    expect(await microsoft.validate({ ...body, transaction })).toMatchObject({ purchaseId: `store_c:${id}` });
    expect(microsoft.calls.at(-1)?.url).toMatch('/v6.0/collections/query');
  });
});
