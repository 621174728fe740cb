import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { type Microsoft, start, useMicrosoft } from './fake-microsoft.ts';
import { day, live, monthEnd, nextMonthEnd, type Step } from './histories.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());

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
    expect(await live(microsoft, steps, { type: 'paid subscription', ...order })).toMatchObject(expected);
  });

  it('has no amount but the one that the client tells', async () => {
    const { transactions } = await live(microsoft, [], { priceMicros: 1_990_000, currency: 'EUR' });
    expect(transactions).toMatchObject([{ amountMicros: 1_990_000, currency: 'EUR', isReportedAmount: true }]);
  });
});
