import { describe, expect, it } from '@jest/globals';
import { recountRows } from '../../testing/recount.ts';

const products = {
  basic: { priceMicros: 10_000_000, period: 'P1M' },
  quarterly: { priceMicros: 24_000_000, period: 'P3M' },
};

const line = (productId: string, [start, end]: readonly [string, string], changes: object = {}) => ({
  productId,
  itemId: 'si_1',
  isProration: false,
  amountMicros: 10_000_000,
  periodStart: `${start}T00:00:00Z`,
  periodEnd: `${end}T00:00:00Z`,
  taxes: [],
  ...changes,
});

const invoice = (date: string, ...lines: readonly object[]) => ({
  id: `in_${date}`,
  status: 'paid',
  createdAt: `${date}T00:00:00Z`,
  paidAt: `${date}T00:00:00Z`,
  totalMicros: 10_000_000,
  taxes: [],
  lines,
});

const january = invoice('2027-01-21', line('basic', ['2027-01-21', '2027-02-21']));
const afterTrial = invoice('2027-02-27', line('basic', ['2027-02-27', '2027-03-27']));
const fee = line('fee', ['2027-02-24', '2027-02-24'], { itemId: null });
const rest = ['2027-01-21', '2027-02-27'] as const;
const changed = [
  invoice('2026-11-27', line('quarterly', ['2026-11-27', '2027-02-27'])),
  { ...january, lines: [line('quarterly', rest, { isProration: true, amountMicros: -9_000_000 }), ...january.lines] },
];

/** Recounts a subscription at Stripe with these invoices. Each has one payment. */
function recount(invoices: readonly ReturnType<typeof invoice>[], changes: object = {}, today = '2027-03-20') {
  const payments = invoices.map(({ id, paidAt }) => ({
    invoiceId: id,
    amountMicros: 10_000_000,
    paidAt,
    refunds: [],
    disputes: [],
  }));
  const currentPeriodEnd = '2027-03-27T00:00:00Z';
  const stripe = { id: 'sub_1', platform: 'processor_a', state: 'active', currentPeriodEnd };
  const purchases = [{ ...stripe, invoices, payments, ...changes }];
  return recountRows('recount-ledger.py', { now: Date.parse(`${today}T00:00:00Z`), products, purchases });
}

describe('recount of figures over the records of the stores', () => {
  it.each([
    ['is paid', [january, afterTrial], 0],
    ['is paid after a change from a plan whose period is longer', [...changed, afterTrial], 0],
    ['is paid if a fee is billed in it', [january, invoice('2027-02-24', fee), afterTrial], 0],
    ['ends with the next period if nobody pays that', [january, { ...afterTrial, status: 'open' }], 1],
  ])('finds that the time of a trial within a paid period %s', (_case, invoices, churned) => {
    const { months } = recount(invoices);
    expect(months).toContainEqual(expect.objectContaining({ date: '2027-02-01', churned }));
  });

  it.each([
    ['the current period of an active subscription', { state: 'active' }, { 1: 1 }],
    ['the due date in a subscription that is past due', { state: 'past_due' }, { 1: 1, 2: 1 }],
    ['the cancelation before the due date', { state: 'past_due', cancelAtPeriodEnd: true }, { 1: 1 }],
  ])('finds that the time of an emailed invoice that is not due ends with %s', (_case, changes, active) => {
    const next = invoice('2027-02-21', line('basic', ['2027-02-21', '2027-03-21']));
    const emailed = { ...next, status: 'open', dueDate: '2027-04-10T00:00:00Z' };
    expect(recount([january, emailed], { currentPeriodEnd: '2027-03-21T00:00:00Z', ...changes }).cohorts).toMatchObject(
      [{ active }],
    );
  });

  it.each([
    ['in no period of retention before its period starts', '2027-02-28', { 0: 10 }],
    ['in its period of retention afterwards', '2027-03-01', { 0: 10, 2: 10 }],
  ])('finds that an early payment is %s', (_case, today, before_refunds) => {
    const early = invoice('2027-02-26', line('basic', ['2027-02-26', '2027-03-26']));
    const first = invoice('2027-01-01', line('basic', ['2027-01-01', '2027-02-01']));
    expect(recount([first, early], {}, today).cohorts[0].revenueUSD.before_refunds).toEqual(before_refunds);
  });
});
