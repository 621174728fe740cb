/**
 * The modules of the console hold the objects of jsdom until the end of the process.
 *
 * @jest-environment-options { "globalsCleanup": "off" }
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { listAnnotations } from '../../lib/annotations/contract.ts';
import { getApp } from '../../lib/apps/contract.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import {
  getConversion,
  getLtv,
  getRetention,
  type LtvCohort,
  type RetentionCohort,
} from '../../lib/statistics/cohort-contract.ts';
import { getChurn, getMrr, type MrrRow } from '../../lib/statistics/mrr-contract.ts';
import { getRevenue, type RevenueRow } from '../../lib/statistics/revenue-contract.ts';
import { type RenderedConsole, renderConsole, respondTo } from '../../testing/render-console.ts';
import { waitFor } from '../../testing/wait-for.ts';

const countedUntil = '2026-03-24T12:00:00.000Z';
const head = { countedUntil, by: 'none', amount: 'after_refunds', unconvertedShare: 0 } as const;
const annotations = respondTo(listAnnotations, () => ({
  rows: [{ id: 'a', date: '2026-02-14', text: 'Release 2.0', createdAt: countedUntil }],
  priceChanges: [
    {
      date: '2026-03-02',
      platform: 'store_a' as const,
      productId: 'store_a:pro',
      currency: 'EUR',
      fromMicros: 9_990_000,
      toMicros: 11_990_000,
      countries: ['DE'],
    },
  ],
}));
const app = respondTo(getApp, () => ({
  appName: 'demo',
  createdAt: countedUntil,
  key: { id: 'k1', name: 'default', level: 'secret' as const },
  strategy: 'all' as const,
  sandboxEntitlements: 'all' as const,
  tokenMinutes: 60,
  vocabulary: 'neutral' as const,
  unverifiedHours: 24,
  stores: [
    { platform: 'store_a' as const, isConnected: true },
    { platform: 'store_b' as const, isConnected: false },
  ],
  service: { version: '0.1.0' },
  catalogue: {
    'store_a:pro': { type: 'paid subscription' as const, entitlements: ['premium'] },
    gold: { type: 'consumable' as const },
  },
  productIds: ['store_a:pro', 'store_b:pro'],
}));
const period = 'period=custom&from=2026-01-01&to=2026-03-31&interval=month';

const toMrrRow = (date: string, mrrUSD: number, added = 0): MrrRow => ({
  date,
  mrrUSD,
  arrUSD: 12 * mrrUSD,
  movement: { new: added, expansion: 0, contraction: 0, churned: 0, reactivated: 0, exchange: 0 },
  unconvertedShare: 0,
});

const toCohort = (start: string, actives: readonly number[], completePeriods = actives.length): RetentionCohort => ({
  start,
  size: actives[0] ?? 0,
  completePeriods,
  periods: actives.map((active, index) => ({
    index,
    active,
    rate: active / (actives[0] || 1),
    revenueUSD: active * 10,
  })),
});

const toProduct = (platform: Platform, productId: string, cohorts: RetentionCohort[]) => ({
  platform,
  productId: `${platform}:${productId}`,
  unconvertedShare: 0,
  cohorts,
});

/** Two products with the same id on two stores, a third one, and a product without subscriptions. */
const retention = respondTo(getRetention, ({ query: { by, startdate = '' } }) => {
  if (startdate === '2025-10-01')
    return { interval: 'month' as const, ...head, cohorts: [toCohort('2025-10-01', [10, 5, 5])] };
  const cohorts = [toCohort('2026-01-01', [30, 20, 18]), toCohort('2026-02-01', [10, 4], 1)];
  if (by !== 'product') return { interval: 'month' as const, ...head, cohorts };
  return {
    interval: 'month' as const,
    ...head,
    by: 'product' as const,
    products: { skip: 0, limit: 100, total: 4 },
    cohorts,
    groups: [
      toProduct('store_a', 'coins', [toCohort('2026-01-01', [0, 0, 0])]),
      toProduct('store_a', 'pro', [toCohort('2026-01-01', [10, 9, 8])]),
      toProduct('store_b', 'pro', [toCohort('2026-01-01', [10, 4, 4])]),
      toProduct('store_a', 'basic', [toCohort('2026-01-01', [10, 7, 1])]),
    ],
  };
});

const noOne: LtvCohort = {
  start: '2026-02-01',
  customers: 0,
  payers: 0,
  ages: [{ month: 0, revenueUSD: 0, revenuePerCustomerUSD: 0, revenuePerPayerUSD: 0 }],
};

const ltv = respondTo(getLtv, () => ({
  interval: 'month' as const,
  ...head,
  cohorts: [
    {
      start: '2026-01-01',
      customers: 4,
      payers: 2,
      ages: [
        { month: 0, revenueUSD: 20, revenuePerCustomerUSD: 5, revenuePerPayerUSD: 10 },
        { month: 1, revenueUSD: 30, revenuePerCustomerUSD: 7.5, revenuePerPayerUSD: 15 },
      ],
    } satisfies LtvCohort,
    noOne,
  ],
}));

const noChurn = {
  ...{ churned: 0, voluntary: 0, involuntary: 0 },
  ...{ churnRate: 0, churnedMrrUSD: 0, revenueChurnRate: 0, unconvertedShare: 0 },
};

let rendered: RenderedConsole;
afterEach(() => rendered.close());
const open = async (path: string, routes: Parameters<typeof renderConsole>[1]): Promise<RenderedConsole> => {
  rendered = await renderConsole(path, [...routes, annotations, app], {
    respondAsStores: () => ({ now: '2026-04-15T12:00:00Z' }),
  });
  return rendered;
};

/** Reads a figure and its comparison. */
const readFigure = (page: RenderedConsole, label: string): string[] => {
  const figure = page.findAll('.figure').find((candidate) => candidate.querySelector('dt')?.textContent === label);
  return [...(figure?.querySelectorAll('dd') ?? [])].map(({ textContent }) => textContent ?? '');
};

const readTable = (page: RenderedConsole, caption: string): string[][] =>
  page
    .findAll(`section[aria-label="Table: ${caption}"] tbody tr`)
    .map((row) => [...row.querySelectorAll('th, td')].map(({ textContent }) => textContent ?? ''));

describe('Revenue page', () => {
  const toAmounts = (gross: number, refunds: number) => ({
    gross,
    refunds,
    commission: gross / 10,
    tax: gross / 20,
    proceeds: gross * 0.85 - refunds,
  });
  const toRow = (date: string, gross: number, refunds = 0): RevenueRow => {
    const amounts = Object.entries(toAmounts(gross, refunds));
    const toFields = (suffix: string, factor: number) =>
      Object.fromEntries(amounts.map(([name, amount]) => [`${name}${suffix}`, amount * factor]));
    return {
      date,
      ...toFields('USD', 1),
      unconvertedShare: 0,
      currencies: gross === 0 ? {} : { EUR: toFields('Micros', 900_000), USD: toFields('Micros', 100_000) },
    } as RevenueRow;
  };
  const respond = (until: string) =>
    respondTo(getRevenue, ({ query: { interval = 'month', startdate = '' } }) => ({
      interval: interval as 'month',
      countedUntil: until,
      by: 'none' as const,
      unconvertedShare: 0,
      proceedsSource: 'table' as const,
      totals: startdate < '2026' ? toRow(startdate, 100) : toRow(startdate, 300, 20),
      rows:
        interval === 'range'
          ? [startdate < '2026' ? toRow(startdate, 100) : toRow(startdate, 300, 20)]
          : [toRow('2026-01-01', 100), toRow('2026-02-01', 120, 20), toRow('2026-03-01', 80)],
    }));

  it('opens with gross, refunds, commission, tax and proceeds of the period', async () => {
    const page = await open(`/revenue?${period}`, [respond('2026-04-15T11:59:30Z')]);
    await page.waitForText('+176.5% from $85.00');
    expect(['Gross', 'Refunds', 'Commission', 'Tax', 'Proceeds'].map((label) => readFigure(page, label)[0])).toEqual([
      '$300.00',
      '$20.00',
      '$30.00',
      '$15.00',
      '$235.00',
    ]);
    expect(readTable(page, 'Revenue by interval')[1]).toEqual([
      'February 2026',
      '$120.00',
      '$20.00',
      '$12.00',
      '$6.00',
      '$82.00',
    ]);
    expect(readTable(page, 'Revenue by currency')).toEqual([
      ['EUR', '€270.00', '€18.00', '€27.00', '€13.50', '€211.50'],
      ['USD', '$30.00', '$2.00', '$3.00', '$1.50', '$23.50'],
    ]);
    expect(page.readText()).not.toContain('counted until');
    expect(readTable(page, 'Gross and proceeds')[1]).toEqual([
      'February 2026',
      '$120.00',
      '$82.00',
      'Feb 14, 2026: Release 2.0',
    ]);
    expect(readTable(page, 'Gross and proceeds')[0]?.at(-1)).toBe('Mar 2, 2026: pro, App Store: €9.99 → €11.99');
  });

  it('states until when figures are counted that lag by more than a minute', async () => {
    const page = await open(`/revenue?${period}`, [respond('2026-04-15T11:50:00Z')]);
    await page.waitForText(/counted until .*, 10 minutes ago\. They lack what happened since then\./);
  });

  it('selects a quarter, compared with the quarter before', async () => {
    const page = await open('/revenue', [respond('2026-04-15T12:00:00Z')]);
    await page.click('Last quarter');
    await page.waitForText('Changes compare Jan 1, 2026 to Mar 31, 2026 with Oct 1, 2025 to Dec 31, 2025.');
    await page.enter('Interval', 'quarter');
    await waitFor('the request', () => page.requests.find((sent) => sent.includes('interval=quarter')));
  });

  it('downloads a line for each interval and currency for accounting', async () => {
    const page = await open(`/revenue?${period}`, [respond('2026-04-15T12:00:00Z')]);
    await page.waitForText('€270.00');
    const downloads: Blob[] = [];
    URL.createObjectURL = (file) => `blob:${downloads.push(file as Blob)}`;
    await page.click('CSV for accounting');
    const lines = (await downloads[0]?.text())?.trim().split('\r\n') ?? [];
    expect(lines[0]?.replace('\uFEFF', '')).toBe(
      'First day,Last day,Currency,Gross,Refunds,Commission,Tax,Proceeds,Basis',
    );
    expect(lines).toHaveLength(7);
    expect(lines[3]).toContain('2026-02-01,2026-02-28,EUR,108,18,10.8,5.4,73.8,Proceeds are computed');
  });
});

describe('MRR', () => {
  const mrr = respondTo(getMrr, ({ query: { interval = 'month', startdate = '', by = 'none' } }) => {
    const totals = startdate < '2026' ? toMrrRow(startdate, 40, 40) : toMrrRow(startdate, 100, 60);
    const rows =
      interval === 'range'
        ? [totals]
        : [toMrrRow('2026-01-01', 60, 20), toMrrRow('2026-02-01', 80, 20), toMrrRow('2026-03-01', 100, 20)];
    return {
      interval: interval as 'month',
      ...head,
      by: by as 'none',
      totals,
      rows,
      ...(by === 'platform' && { groups: [{ platform: 'store_a' as const, unconvertedShare: 0, totals, rows }] }),
    };
  });

  it('shows the figures of the period, compared with the period before, and their rows', async () => {
    const page = await open(`/revenue?tab=mrr&${period}`, [mrr]);
    await page.waitForText('+150% from $40.00');
    expect(readFigure(page, 'MRR')).toEqual(['$100.00', '+150% from $40.00']);
    expect(readFigure(page, 'New')).toEqual(['$60.00', '+50% from $40.00']);
    expect(readFigure(page, 'Churned')).toEqual(['$0.00', '$0.00 in the 90 days before']);
    expect(readTable(page, 'Movement by interval').map(([date, mrr]) => [date, mrr])).toEqual([
      ['March 2026', '$100.00'],
      ['February 2026', '$80.00'],
      ['January 2026', '$60.00'],
    ]);
    const links = page.findAll('main a').map((link) => link.getAttribute('href'));
    expect(links).toContain('#/transactions?from=2026-02-01&to=2026-02-28');
    expect(links).toContain('#/customers?state=active');
  });

  it('shows figures as absent if a request fails, never as 0', async () => {
    const failed = respondTo(getMrr, () => ({
      ok: false as const,
      status: 500,
      code: 'InternalError',
      message: 'It failed.',
    }));
    const page = await open(`/revenue?tab=mrr&${period}`, [failed]);
    await page.waitForText('It failed.');
    await waitFor('the end of the placeholders', () => readFigure(page, 'MRR')[0] === '–');
    for (const label of ['MRR', 'ARR', 'New', 'Churned']) expect(readFigure(page, label)).toEqual(['–', '\u00a0']);
    expect(page.readText()).not.toContain('$0');
  });

  it('shows no change if only the period before cannot be loaded', async () => {
    const failedBefore = respondTo(getMrr, ({ query: { startdate = '' } }) =>
      startdate < '2026'
        ? { ok: false as const, status: 500, code: 'InternalError', message: 'It failed.' }
        : {
            interval: 'month' as const,
            ...head,
            totals: toMrrRow('2026-01-01', 60),
            rows: [toMrrRow('2026-01-01', 60)],
          },
    );
    const page = await open(`/revenue?tab=mrr&${period}`, [failedBefore]);
    await page.waitForText('It failed.');
    await waitFor('the figure', () => readFigure(page, 'MRR')[0] === '$60.00');
    expect(readFigure(page, 'MRR')).toEqual(['$60.00', '\u00a0']);
  });

  const subscribers = respondTo(getChurn, ({ query: { startdate = '' } }) => {
    const totals = { ...noChurn, date: startdate, activeAtStart: 12 };
    return { interval: 'range' as const, ...head, totals, rows: [totals] };
  });

  it('combines filters with every dimension, and keeps them from page to page', async () => {
    const page = await open(`/revenue?tab=mrr&${period}&by=platform&country=DE`, [mrr, subscribers, retention]);
    // The products that have figures, not all of the catalogue.
    await page.waitForText('ProductAllpro, App Storepro, Google PlayCountry');
    await page.enter('Product', 'store_a:pro');
    await page.enter('Entitlement', 'premium');
    const filters = 'by=platform&amount=after_refunds&product=store_a%3Apro&country=DE&entitlement=premium';
    await waitFor('the request', () => page.requests.some((sent) => sent.includes(filters)));
    await page.click('Retention');
    await page.waitForText('Cohorts by subscriptions');
    const kept = 'product=store_a%3Apro&country=DE&entitlement=premium';
    await waitFor('the cohorts', () =>
      page.requests.some((sent) => sent.includes('/v3/stats/retention') && sent.includes(kept)),
    );
    await page.click('Remove the filters');
    await waitFor('all cohorts', () => location.hash === '#/retention');
  });

  it('states in the words of the service why a filter is refused', async () => {
    const message = 'Payments of an earlier release are not counted for filters.';
    const refused = respondTo(getMrr, () => ({ ok: false as const, status: 400, code: 'InvalidPayload', message }));
    const page = await open(`/revenue?tab=mrr&${period}&country=DE`, [refused, subscribers]);
    await page.waitForText(message);
  });

  it('keeps the filters in the link, and shows one value of the dimension alone', async () => {
    const page = await open(`/revenue?tab=mrr&${period}`, [mrr, subscribers]);
    await page.click('Store');
    await page.click('App Store', 'By store');
    await page.waitForText('The filters match 12 paying subscriptions at the start of Mar 31, 2026.');
    expect(Object.fromEntries(new URLSearchParams(location.hash.split('?')[1]))).toEqual({
      tab: 'mrr',
      period: 'custom',
      from: '2026-01-01',
      to: '2026-03-31',
      interval: 'month',
      platform: 'store_a',
    });
    await page.enter('Amounts', 'proceeds');
    await waitFor('the request', () =>
      page.requests.some((sent) => sent.includes('by=none&amount=proceeds&platform=store_a')),
    );
    const links = page.findAll('main a').map((link) => link.getAttribute('href'));
    expect(links).toContain('#/transactions?from=2026-01-01&to=2026-03-31&platform=store_a');
  });

  it('opens the definition in one click', async () => {
    const page = await open(`/revenue?tab=mrr&${period}`, [mrr]);
    await page.click('Definition: Monthly recurring revenue');
    await page.waitForText('MRR = sum of the monthly amounts', 'Monthly recurring revenue');
    await page.click('Close');
  });
});

describe('Subscriptions page', () => {
  it('shows no rate without subscriptions at the start', async () => {
    const churn = respondTo(getChurn, ({ query: { startdate = '', interval = 'month' } }) => {
      const totals =
        startdate < '2026'
          ? { date: startdate, activeAtStart: 0, ...noChurn }
          : {
              date: startdate,
              activeAtStart: 10,
              ...noChurn,
              churned: 4,
              churnRate: 0.4,
              voluntary: 3,
              involuntary: 1,
            };
      return { interval: interval as 'month', ...head, totals, rows: [totals] };
    });
    const page = await open(`/subscriptions?${period}`, [churn]);
    await page.waitForText('None in the 90 days before');
    expect(readFigure(page, 'Churn rate')).toEqual(['40%', 'None in the 90 days before']);
    expect(readFigure(page, 'Payment failed')).toEqual(['1', '0 in the 90 days before']);
  });
});

describe('Retention page', () => {
  it('shows which product loses most in month two, and on which store, in three clicks', async () => {
    const page = await open(`/revenue?tab=mrr&${period}`, [
      retention,
      respondTo(getMrr, () => ({ interval: 'month' as const, ...head, rows: [] })),
    ]);
    await page.click('Retention');
    await page.waitForText('Cohorts by subscriptions');
    await page.click('Product');
    await page.waitForText('pro, Google Play, loses most: 6 of 10 subscriptions, 60%.');
    expect(readTable(page, 'Loss in month 2 by product').map((cells) => cells.slice(0, 5))).toEqual([
      ['pro', 'Google Play', '10', '6', '60%'],
      ['basic', 'App Store', '10', '3', '30%'],
      ['pro', 'App Store', '10', '1', '10%'],
    ]);
    const payments = page.findAll('section a').map((link) => link.getAttribute('href'));
    expect(payments.some((href) => href?.includes('platform=store_b&product=store_b%3Apro'))).toBe(true);
    await page.enter('Loss in month', '3');
    await page.waitForText('basic, App Store, loses most: 6 of 7 subscriptions, 85.7%.');
  });

  it('leaves out products without subscriptions', async () => {
    const page = await open(`/retention?${period}&by=product`, [retention]);
    await page.waitForText('pro, Google Play, loses most');
    for (const caption of ['Loss in month 2 by product', 'Retention by product'])
      expect(readTable(page, caption).map(([name]) => name?.split(',')[0])).not.toContain('coins');
    expect(readTable(page, 'Retention by product')).toHaveLength(3);
    // The single page has no label: it would count the hidden row.
    expect(page.readText()).not.toContain(' of 4');
  });

  it('shows values in every cell, and marks those that still change', async () => {
    const page = await open(`/retention?${period}`, [retention]);
    await page.waitForText('66.7%');
    expect(readTable(page, 'Cohorts by subscriptions')).toEqual([
      ['January 2026', '30', '100%', '66.7%', '60%'],
      ['February 2026', '10', '100%', '40%*', '–'],
    ]);
    await page.waitForText('+33.3% from 50%');
    expect(readFigure(page, 'Month 2')).toEqual(['66.7%', '+33.3% from 50%']);
    await page.click('Revenue', 'Cohorts by subscriptions');
    await page.waitForText('$200.00');
    // Payments of the last period follow until it ends.
    expect(readTable(page, 'Cohorts by revenue')[0]).toEqual(['January 2026', '30', '$300.00', '$200.00', '$180.00*']);
  });
});

describe('Lifetime value page', () => {
  it('shows the revenue per customer and per payer of complete months', async () => {
    const page = await open(`/ltv?${period}`, [ltv]);
    await page.waitForText('$7.50');
    expect(readFigure(page, 'After 1 month')[0]).toBe('$5.00');
    expect(readFigure(page, 'Share of payers')[0]).toBe('50%');
    await page.click('Per payer');
    await page.waitForText('$15.00');
    expect(readFigure(page, 'After 1 month')[0]).toBe('$10.00');
  });

  it('divides the exact revenue of all cohorts', async () => {
    const toHalf = (start: string, revenueUSD: number, revenuePerCustomerUSD: number): LtvCohort => ({
      start,
      customers: 2,
      payers: 2,
      ages: [{ month: 0, revenueUSD, revenuePerCustomerUSD, revenuePerPayerUSD: revenuePerCustomerUSD }],
    });
    const rounded = respondTo(getLtv, () => ({
      interval: 'month' as const,
      ...head,
      cohorts: [toHalf('2026-01-01', 10.01, 5.01), toHalf('2026-02-01', 10, 5)],
    }));
    const page = await open(`/ltv?${period}`, [rounded]);
    // 20.01 by 4 customers. The average of the rounded amounts would be 5.005.
    await waitFor('the figure', () => readFigure(page, 'After 1 month')[0] === '$5.00');
  });

  it('shows no revenue of a cohort without customers', async () => {
    const page = await open(`/ltv?${period}`, [ltv]);
    await page.waitForText('$7.50');
    expect(readTable(page, 'Revenue per customer')[1]).toEqual(['February 2026', '0', '–', '–']);
  });
});

describe('Conversion page', () => {
  it('shows shares of all cohorts together, and none without trials', async () => {
    const conversion = respondTo(getConversion, ({ query: { startdate = '' } }) => ({
      interval: 'month' as const,
      ...head,
      cohorts: ['2026-01-01', '2026-02-01'].map((start, index) => ({
        start,
        trials: startdate < '2026' ? 0 : 10 * (1 + 2 * index),
        converted: startdate < '2026' ? 0 : 5,
        conversionRate: 0,
        customers: 40,
        payers: 10,
        payerRate: 0.25,
      })),
    }));
    const page = await open(`/conversion?${period}`, [conversion]);
    await page.waitForText('None in the 3 cohorts before');
    expect(readFigure(page, 'Trial conversion')).toEqual(['25%', 'None in the 3 cohorts before']);
    expect(readFigure(page, 'Share of payers')).toEqual(['25%', 'Also 25% in the 3 cohorts before']);
  });
});
