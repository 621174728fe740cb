import { describe, expect, it } from '@jest/globals';
import { isStripeItemRunning, readPaidPeriod } from '../../testing/stripe-oracle.ts';

const now = Date.parse('2027-02-20T00:00:00Z');
const line = (start: string, end: string, changes: object = {}) => ({
  itemId: 'si_1',
  isProration: false,
  periodStart: `${start}T00:00:00Z`,
  periodEnd: `${end}T00:00:00Z`,
  ...changes,
});
const january = {
  id: 'in_1',
  status: 'paid',
  createdAt: '2027-01-01T00:00:00Z',
  paidAt: '2027-01-01T00:00:00Z',
  payments: [],
  lines: [line('2027-01-01', '2027-02-01')],
};
const december = { ...january, lines: [line('2026-12-01', '2027-01-01')] };
const february = {
  ...january,
  id: 'in_2',
  createdAt: '2027-02-01T00:00:00Z',
  paidAt: '2027-02-01T00:00:00Z',
  lines: [line('2027-02-01', '2027-03-01')],
};
const unpaid = { ...february, status: 'open', paidAt: undefined };
const payment = { invoiceId: 'in_2', amountMicros: 10, refunds: [], disputes: [] };
const returned = { ...payment, refunds: [{ amountMicros: 10 }] };
const proration = line('2027-02-10', '2027-03-01', { isProration: true });
const change = { ...february, id: 'in_3', lines: [proration] };
const subscription = {
  id: 'sub_1',
  state: 'active',
  currentPeriodEnd: '2027-03-01T00:00:00Z',
  lines: [{ id: 'si_1' }],
  invoices: [january, february],
  payments: [payment],
};

/** A later paid invoice makes a subscription active again. */
const activeAgain = { state: 'active', payments: [] };
const pastDue = { state: 'past_due', invoices: [january, unpaid], payments: [] };

describe('isStripeItemRunning', () => {
  it.each<[string, object, boolean | undefined]>([
    ['a paid period', {}, true],
    ['a canceled subscription', { state: 'canceled' }, false],
    ['a period whose end the store has not processed', { currentPeriodEnd: '2027-02-19T00:00:00Z' }, true],
    ['a period whose payments are all returned', { payments: [returned] }, false],
    ['a period of which one of two payments is returned', { payments: [returned, payment] }, true],
    [
      'a returned period with a paid change',
      { payments: [returned], invoices: [january, february, change] },
      undefined,
    ],
    ['an unpaid change', { invoices: [january, february, { ...change, status: 'open' }] }, undefined],
    ['a void invoice', { invoices: [january, { ...unpaid, status: 'void' }], payments: [] }, true],
    ['an unpaid period after its grace', pastDue, false],
    ['an unpaid period with a paid change', { ...pastDue, invoices: [january, unpaid, change] }, false],
    ['an unpaid period that was due later', { ...pastDue, invoices: [january, dueAt('2027-02-15')] }, true],
    ['an unpaid period that was due long ago', { ...pastDue, invoices: [january, dueAt('2027-02-05')] }, false],
    ['a debit that failed later', { ...pastDue, invoices: [january, failedAt('2027-02-15')] }, true],
    ['an unpaid period after one without an invoice', { ...pastDue, invoices: [december, unpaid] }, undefined],
    ['a first period that is unpaid', { ...pastDue, invoices: [unpaid] }, false],
    [
      'a failed period before a paid change',
      { ...activeAgain, invoices: [january, failedAt('2027-02-01'), change] },
      false,
    ],
    [
      'an overdue period before a paid change',
      { ...activeAgain, invoices: [january, dueAt('2027-02-05'), change] },
      false,
    ],
    ['a failed period in its grace', { ...activeAgain, invoices: [january, failedAt('2027-02-15'), change] }, true],
    ['a period whose emailed invoice is not due', { ...activeAgain, invoices: [january, dueAt('2027-02-25')] }, true],
    ['a period whose debit is pending', { ...activeAgain, invoices: [january, pendingDebit()] }, true],
    ['an uncollectible invoice', { ...pastDue, state: 'active', invoices: [january, uncollectible()] }, false],
    ['an unpaid extra invoice in a paid period', { state: 'past_due' }, true],
    ['a running trial', { state: 'trialing' }, true],
  ])('decides for %s', (_title, changes, expected) => {
    expect(isStripeItemRunning({ ...subscription, ...changes }, now)).toBe(expected);
  });
});

describe('readPaidPeriod', () => {
  it.each<[string, object, string | undefined]>([
    ['the last one', {}, '2027-03-01T00:00:00.000Z'],
    ['the last paid one', pastDue, '2027-02-01T00:00:00.000Z'],
    ['the last one before the end', { endedAt: '2027-01-31T00:00:00Z' }, '2027-02-01T00:00:00.000Z'],
    ['none without a payment', { invoices: [unpaid] }, undefined],
  ])('returns the end of %s', (_title, changes, expected) => {
    expect(readPaidPeriod({ ...subscription, ...changes })).toBe(expected);
  });
});

function dueAt(day: string) {
  return { ...unpaid, dueDate: `${day}T00:00:00Z` };
}

function failedAt(day: string) {
  return { ...unpaid, payments: [{ failedAt: `${day}T00:00:00Z` }] };
}

function pendingDebit() {
  return { ...unpaid, payments: [{ status: 'open' }] };
}

function uncollectible() {
  return { ...unpaid, status: 'uncollectible' };
}
