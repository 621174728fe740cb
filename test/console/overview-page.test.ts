/**
 * The modules of the console hold the objects of jsdom until the end of the process.
 *
 * @jest-environment-options { "globalsCleanup": "off" }
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { chooseMetric } from '../../console/pages/stats-rows.ts';
import { listAnnotations } from '../../lib/annotations/contract.ts';
import { getApp } from '../../lib/apps/contract.ts';
import { searchEvents } from '../../lib/events/contract.ts';
import { getDue } from '../../lib/problems/contract.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { type BreakdownRow, getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { getChurn, getMrr } from '../../lib/statistics/mrr-contract.ts';
import { getRevenue } from '../../lib/statistics/revenue-contract.ts';
import { listStores } from '../../lib/stores/contract.ts';
import { type RenderedConsole, renderConsole, respondTo } from '../../testing/render-console.ts';
import { waitFor } from '../../testing/wait-for.ts';

const unavailable = { ok: false, status: 503, code: 'DatabaseError', message: '-' } as const;

const toRow = (amountUSD: number, fields: Partial<BreakdownRow> = {}): BreakdownRow => ({
  date: '2026-03-01',
  enddate: '2026-03-31',
  amountUSD,
  amountMicros: amountUSD === 0 ? {} : { USD: amountUSD * 1_000_000 },
  numTransactions: amountUSD === 0 ? 0 : 1,
  numPaidTransactions: amountUSD === 0 ? 0 : 1,
  unconvertedShare: 0,
  notifications: {},
  subscriptionNotifications: {},
  activeSubscriptions: 0,
  activeTrials: 0,
  unverifiedSubscriptions: 0,
  trialsStarted: 0,
  trialsConverted: 0,
  trialsEnded: 0,
  startedTrials: { converted: 0, ended: 0 },
  ...fields,
});

const countedUntil = '2026-03-24T12:00:00.000Z';

const respondWithBreakdown = (getRow: (query: Readonly<Record<string, string>>) => BreakdownRow) =>
  respondTo(getStatsBreakdown, ({ query }) => {
    const by = query.by === 'platform' ? ('platform' as const) : ('none' as const);
    return {
      countedUntil,
      interval: 'month' as const,
      by,
      groups: [
        { ...(by === 'platform' && { platform: 'store_a' as const }), totals: getRow(query), rows: [getRow(query)] },
      ],
    };
  });

const common = { countedUntil, interval: 'month', by: 'none', amount: 'after_refunds', unconvertedShare: 0 } as const;
const toChurn = (date: string, churnRate: number) => ({
  date,
  activeAtStart: 50,
  churned: 50 * churnRate,
  churnRate,
  voluntary: 0,
  involuntary: 0,
  churnedMrrUSD: 0,
  revenueChurnRate: 0,
  unconvertedShare: 0,
});
const movement = { new: 30, expansion: 0, contraction: 0, churned: 10, reactivated: 0, exchange: 0 };

const otherRoutes = [
  respondTo(getChurn, () => ({
    ...common,
    rows: [toChurn('2026-02-01', 0.04), toChurn('2026-03-01', 0.1), toChurn('2026-04-01', 0.02)],
  })),
  respondTo(getApp, () => unavailable),
  respondTo(searchEvents, () => unavailable),
  respondTo(getDue, () => unavailable),
  respondTo(listStores, () => unavailable),
  respondTo(listTransactions, () => ({ paging: { skip: 0, limit: 50, total: 0 }, rows: [] })),
  respondTo(listAnnotations, () => ({ rows: [], priceChanges: [] })),
  respondTo(getRevenue, () => ({
    countedUntil,
    interval: 'month' as const,
    by: 'none' as const,
    unconvertedShare: 0,
    rows: [],
  })),
  respondTo(getMrr, () => ({
    ...common,
    rows: [{ date: '2026-03-01', mrrUSD: 100, arrUSD: 1_200, movement, unconvertedShare: 0 }],
  })),
];

let page: RenderedConsole;
afterEach(() => page.close());
const open = async (path: string, breakdown: ReturnType<typeof respondWithBreakdown>): Promise<void> => {
  page = await renderConsole(path, [breakdown, ...otherRoutes], {
    respondAsStores: () => ({ now: '2026-04-15T12:00:00Z' }),
  });
};

const march = '/?period=custom&from=2026-03-01&to=2026-03-31&interval=month';

const switchSandbox = (): void => {
  const [input] = page.findAll('nav .toggle input') as (Element & { click(): void })[];
  input?.click();
};

describe('Sandbox of the console', () => {
  const breakdown = respondWithBreakdown(({ sandbox }) => toRow(sandbox === 'true' ? 7 : 9));
  const listRequests = (path: string) => page.requests.filter((request) => request.startsWith(`GET ${path}`));

  it('switches from production to the sandbox in the link and on the other pages', async () => {
    await open(march, breakdown);
    await page.waitForText('$9.00');
    expect(page.readText()).toContain('without sandbox purchases');
    expect(page.readText()).not.toContain('no money was paid');
    expect(listRequests('/v3/stats').filter((request) => request.includes('sandbox'))).toEqual([]);
    // Loaded after the page.
    const ofSection = () => listRequests('/v3/stats/breakdown').filter((request) => request.includes('by=platform'));
    await waitFor('the section by platform', ofSection, ({ length }) => length === 3);
    const before = page.requests.length;
    switchSandbox();
    await page.waitForText('$7.00');
    expect(page.readText()).toContain('sandbox purchases only');
    expect(page.readText()).toContain('no money was paid');
    expect(location.hash).toContain('sandbox=true');
    const later = page.requests.slice(before).filter((request) => request.startsWith('GET /v3/stats'));
    expect(later.filter((request) => !request.includes('sandbox=true'))).toEqual([]);
    await page.click('Revenue');
    await waitFor('the figures of the sandbox', () => listRequests('/v3/stats/revenue').at(-1));
    expect(listRequests('/v3/stats/revenue').every((request) => request.includes('sandbox=true'))).toBe(true);
    await page.click('Transactions');
    await waitFor('the transactions of the sandbox', () =>
      listRequests('/v3/transactions').find((request) => request.includes('sandbox=true')),
    );
  });

  it('switches back to production on the same page', async () => {
    await open(`${march}&sandbox=true`, breakdown);
    await page.waitForText('$7.00');
    await page.click('Leave the sandbox');
    await page.waitForText('$9.00');
    expect(location.hash).toBe(`#${march}`);
  });
});

describe('Overview page', () => {
  it('begins with MRR, revenue, subscriptions, trials and the churn of the latest complete month', async () => {
    await open(
      march,
      respondWithBreakdown(({ startdate = '' }) =>
        toRow(startdate < '2026-03' ? 5 : 10, { activeSubscriptions: 40, activeTrials: 3 }),
      ),
    );
    await page.waitForText('+100% from $5.00');
    const [first] = page.findAll('.figures');
    const figures = [...(first?.querySelectorAll('.figure') ?? [])];
    expect(figures.map((figure) => [...figure.querySelectorAll('dt, dd')].map((part) => part.textContent))).toEqual([
      ['MRR', '$100.00', '+25% from $80.00'],
      ['Revenue', '$10.00', '+100% from $5.00'],
      ['Active subscriptions', '40', 'Also 40 in the 31 days before'],
      ['In a trial', '3', 'Also 3 in the 31 days before'],
      ['Monthly churn', '10%', 'In March 2026, from 4%'],
    ]);
  });

  it('compares with no period that has no data', async () => {
    const breakdown = respondWithBreakdown(({ startdate = '' }) => toRow(startdate < '2026-03' ? 0 : 9));
    await open(march, breakdown);
    await page.waitForText('No data in the 31 days before');
    expect(page.readText()).not.toContain('$0.00 in');
  });

  it('compares a figure of 0 with the period before', async () => {
    const breakdown = respondWithBreakdown(({ startdate = '' }) =>
      startdate < '2026-03' ? toRow(0, { activeSubscriptions: 1 }) : toRow(9),
    );
    await open(march, breakdown);
    await page.waitForText('$0.00 in the 31 days before');
  });

  it('reports no fall of revenue that is all of today', async () => {
    const amounts: Readonly<Record<string, number>> = { '2026-04-15': 9, '2026-04-14': 0 };
    await open(
      '/',
      respondWithBreakdown(({ enddate = '' }) => toRow(amounts[enddate] ?? 4)),
    );
    await page.waitForText('$0.00 until yesterday, $4.00 in the 29 days before');
    await page.waitForText('App Store');
    expect(page.readText()).not.toContain('-100%');
  });
});

describe('lost subscriptions of the overview', () => {
  it('include what the store revoked, but not refunds, which are counted separately', () => {
    const row = toRow(0, { subscriptionNotifications: { EXPIRED: 2, REVOKED: 1, REFUNDED: 4 } });
    expect(chooseMetric('lost').read([row])).toBe(3);
  });
});

describe('Products of the overview', () => {
  it.each([
    [2, false],
    [51, true],
  ])('numbers its pages if it has several (%d products)', async (total, isNumbered) => {
    const breakdown = respondTo(getStatsBreakdown, ({ query }) => {
      const by = query.by === 'product' ? ('product' as const) : ('none' as const);
      const toGroup = (productId: string, amountUSD: number) => ({
        ...(by === 'product' && { platform: 'store_a' as const, productId: `store_a:${productId}` }),
        totals: toRow(amountUSD),
        rows: [toRow(amountUSD)],
      });
      const products = { skip: 0, limit: 50, total };
      // A product without any value is not shown.
      const groups = by === 'product' ? [toGroup('monthly', 9), toGroup('unsold', 0)] : [toGroup('', 9)];
      return { countedUntil, interval: 'month' as const, by, ...(by === 'product' && { products }), groups };
    });
    await open(`${march}&by=product`, breakdown);
    await page.waitForText('monthly');
    expect(page.readText()).not.toContain('unsold');
    expect(page.readText().includes(`of ${total}`)).toBe(isNumbered);
  });
});
