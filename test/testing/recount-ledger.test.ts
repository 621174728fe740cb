import { describe, expect, it } from '@jest/globals';
import { recountLedger } from '../../testing/recount-ledger.ts';

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

/** Recounts February for a subscription at Stripe with these invoices, of which each has one payment. */
function recountFebruary(invoices: readonly ReturnType<typeof invoice>[]) {
  const payments = invoices.map(({ id, paidAt }) => ({
    invoiceId: id,
    amountMicros: 10_000_000,
    paidAt,
    refunds: [],
    disputes: [],
  }));
  const currentPeriodEnd = '2027-03-27T00:00:00Z';
  const purchase = { id: 'sub_1', platform: 'processor_a', state: 'active', currentPeriodEnd, invoices, payments };
  const { months } = recountLedger({ now: Date.parse('2027-03-20T00:00:00Z'), products, purchases: [purchase] });
  return months.find(({ date }: { readonly date: string }) => date === '2027-02-01');
}

describe('the recount of figures over the records of the stores', () => {
  it.each([
    ['is paid', [january, afterTrial], 0],
    ['is paid after a change from a plan whose period is longer', [...changed, afterTrial], 0],
    ['is paid if a fee is billed in it', [january, invoice('2027-02-24', fee), afterTrial], 0],
    ['ends with the next period if nobody pays that', [january, { ...afterTrial, status: 'open' }], 1],
  ])('finds that the time of a trial within a paid period %s', (_case, invoices, churned) => {
    expect(recountFebruary(invoices)).toMatchObject({ churned });
  });
});
