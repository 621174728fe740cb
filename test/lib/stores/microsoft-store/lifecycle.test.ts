import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayMs, hourMs } from '../../../../lib/foundation/time.ts';
import { type Microsoft, startMicrosoft, startTime } from './fake-microsoft.ts';
import { monthEnd, nextMonthEnd, runHistory, type Step } from './histories.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await startMicrosoft();
});
afterAll(() => microsoft.close());

const active = { expired: false, purchase: { renewalIntent: 'Renew', expirationDate: monthEnd } };
const createExpired = (purchase: object) => ({ expired: true, purchase: { renewalIntent: 'Lapse', ...purchase } });

describe('validate (Microsoft Store) of a subscription', () => {
  it.each<[string, readonly Step[], object, object]>([
    [
      'returns a new subscription as active, with a first payment that has its id',
      [],
      {},
      { ...active, renewal: '', transactions: [{ purchaseDate: startTime, expirationDate: monthEnd }] },
    ],
    [
      'returns another payment after a renewal',
      [['renew']],
      {},
      {
        expired: false,
        renewal: ':2027-03-31',
        purchase: { purchaseDate: startTime, lastRenewalDate: monthEnd, expirationDate: nextMonthEnd },
        transactions: [{ purchaseDate: monthEnd, expirationDate: nextMonthEnd }],
      },
    ],
    ['returns automatic renewals', ['P2M'], { autoRenew: true }, { expired: false, renewal: ':2027-04-30' }],
    [
      'keeps a canceled subscription active and returns the date of the cancelation',
      ['PT1H', ['cancel']],
      {},
      {
        expired: false,
        purchase: { renewalIntent: 'Lapse', renewalIntentChangeDate: startTime + hourMs, expirationDate: monthEnd },
      },
    ],
    ['returns the intent to renew after a resumed renewal', [['cancel'], ['uncancel']], {}, active],
    [
      'expires a subscription by its date before its state changes',
      [['cancel'], 'P1M', 'PT1M'],
      {},
      createExpired({ expirationDate: monthEnd }),
    ],
    [
      'returns the reason of a cancelation by the customer',
      [['cancel'], 'P1M', 'P1D'],
      {},
      createExpired({ cancelationReason: 'Customer' }),
    ],
    [
      'keeps a subscription active during the billing retry',
      [['fail-payment'], 'P1M'],
      {},
      {
        expired: false,
        renewal: '',
        purchase: { isBillingRetryPeriod: true, expirationDate: monthEnd + 14 * dayMs, renewalIntent: 'Renew' },
      },
    ],
    [
      'expires a subscription after the billing retry',
      [['fail-payment'], 'P1M', 'P15D'],
      {},
      createExpired({ cancelationReason: 'System.BillingError', isBillingRetryPeriod: false }),
    ],
    [
      'returns no gap if a retried payment succeeds',
      ['P1M', ['fail-payment'], 'P3D', ['recover']],
      {},
      { expired: false, renewal: ':2027-03-31', purchase: { lastRenewalDate: monthEnd, isBillingRetryPeriod: false } },
    ],
    [
      'returns the grace period before the state changes',
      ['P1M', 'PT1M'],
      {},
      { expired: false, purchase: { expirationDate: monthEnd + 14 * dayMs, isBillingRetryPeriod: true } },
    ],
    [
      'ends a refunded subscription',
      ['P1D', ['refund']],
      {},
      createExpired({ cancelationReason: 'Unknown', endedAt: startTime + dayMs }),
    ],
    ['ends a revoked subscription', [['revoke']], {}, createExpired({ cancelationReason: 'Unknown' })],
    [
      'expires a subscription early',
      ['P1D', ['expire']],
      {},
      createExpired({ expirationDate: startTime + dayMs, cancelationReason: 'Customer' }),
    ],
    [
      'returns a free trial',
      [],
      { trial: 'P1W' },
      {
        renewal: '',
        purchase: { isTrialPeriod: true, expirationDate: startTime + 7 * dayMs },
        transactions: [{ isTrialPeriod: true, amountMicros: 0, currency: 'USD', isReportedAmount: true }],
      },
    ],
    [
      'returns a payment after the trial',
      [['renew']],
      { trial: 'P1W' },
      { renewal: ':2027-03-07', purchase: { isTrialPeriod: false, lastRenewalDate: startTime + 7 * dayMs } },
    ],
    ['returns the renewal of a yearly subscription', [['renew']], { period: 'P1Y' }, { renewal: ':2029-01-31' }],
    [
      'returns the first year of a yearly subscription',
      [],
      { period: 'P1Y' },
      { renewal: '', purchase: { expirationDate: startTime + 365 * dayMs } },
    ],
  ])('%s', async (_title, steps, order, expected) => {
    expect(await runHistory(microsoft, steps, { type: 'paid subscription', ...order })).toMatchObject(expected);
  });

  it('returns the amount that the client reports', async () => {
    const { transactions } = await runHistory(microsoft, [], { priceMicros: 1_990_000, currency: 'EUR' });
    expect(transactions).toMatchObject([{ amountMicros: 1_990_000, currency: 'EUR', isReportedAmount: true }]);
  });
});
