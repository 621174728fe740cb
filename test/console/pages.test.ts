/**
 * The modules of the console hold the objects of jsdom until the end of the process.
 *
 * @jest-environment-options { "globalsCleanup": "off" }
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { actOnPurchase, listPurchaseActions } from '../../lib/actions/contract.ts';
import { createKey, listKeys } from '../../lib/apps/api-key-contract.ts';
import { getCatalogue, setCatalogue } from '../../lib/apps/catalogue-contract.ts';
import { getApp, setWebhook, testAlert } from '../../lib/apps/contract.ts';
import { getCustomerClaims } from '../../lib/customers/claim-contract.ts';
import { getCustomerTimeline, getCustomerTransactions, listCustomers } from '../../lib/customers/contract.ts';
import { getCustomerEntitlements, listGrants } from '../../lib/entitlements/contract.ts';
import { type EventSearchResult, listEvents, searchEvents } from '../../lib/events/contract.ts';
import { hourMs, minuteMs } from '../../lib/foundation/time.ts';
import { getPurchase, getPurchaseOwners, listPurchases } from '../../lib/purchases/contract.ts';
import type { PurchaseRow } from '../../lib/purchases/purchase-contract.ts';
import { getPurchaseTimeline } from '../../lib/purchases/timeline-contract.ts';
import { listTransactions, type TransactionRecord } from '../../lib/purchases/transaction-contract.ts';
import { answerRefundRequest, listRefundRequests, type RefundRequestRecord } from '../../lib/refunds/contract.ts';
import { search } from '../../lib/search/contract.ts';
import { getStoreSettings, listStores, setStore } from '../../lib/stores/contract.ts';
import { type DeliveryRecord, getWebhookStats, listDeliveries, replayDeliveries } from '../../lib/webhooks/contract.ts';
import { buildEventContent } from '../../testing/event-content.ts';
import { loadConsoleModule, type RenderedConsole, renderConsole, respondTo } from '../../testing/render-console.ts';
import { waitFor } from '../../testing/wait-for.ts';

const date = '2026-01-01T00:00:00.000Z';
const noRequests = { numRequests: 0, numFailures: 0 };
const paging = { skip: 0, limit: 50, total: 1 };

const toEvent = (eventId: string, eventType: string): EventSearchResult => ({
  tag: '',
  type: '',
  eventId,
  context: { appName: 'demo', eventType, eventDate: date, eventDateMs: Date.parse(date), includeHeavyData: false },
  content: buildEventContent(),
});

const purchase: PurchaseRow = {
  raw: null,
  purchaseId: 'store_a:1',
  transactionId: 'store_a:1',
  productId: 'store_a:premium',
  platform: 'store_a',
  purchaseDate: date,
  expirationDate: '2999-01-01T00:00:00.000Z',
  isExpired: false,
  entitledUsers: ['alice'],
  notifications: [],
  canRefresh: true,
};

const payment: TransactionRecord = {
  transactionId: 'store_a:1',
  purchaseId: 'store_a:1',
  productId: 'store_a:premium',
  platform: 'store_a',
  sandbox: false,
  purchaseDate: date,
  amountUSD: 9.99,
  amountMicros: 9_990_000,
  currency: 'USD',
};

const delivery: DeliveryRecord = {
  deliveryId: 'dlv_1',
  type: 'purchases.updated',
  state: 'delivered',
  url: 'https://app.example/purchases',
  applicationUsername: 'alice',
  notification: { id: 'n1', reason: 'PURCHASED', date },
  createdAt: date,
  failedAttempts: 0,
};

/** The service with one customer, purchase, payment, delivery and store. */
const routes = [
  respondTo(getApp, () => ({
    appName: 'demo',
    createdAt: date,
    key: { id: 'k1', name: 'default', level: 'secret' as const },
    strategy: 'all' as const,
    vocabulary: 'neutral' as const,
    sandboxEntitlements: 'all' as const,
    tokenMinutes: 60,
    unverifiedHours: 24,
    alertUrl: 'https://alerts.example.com/…',
    webhooks: { urls: ['https://app.example/purchases'], sandboxUrls: [], includesPassword: false, events: [] },
    catalogue: {},
    stores: [{ platform: 'store_a' as const, isConnected: true }],
    service: { version: '0.1.0' },
  })),
  respondTo(listCustomers, () => ({ paging, rows: [{ applicationUsername: 'alice', customerInfo: {} }] })),
  respondTo(listPurchases, () => ({ paging, rows: [purchase] })),
  respondTo(getPurchase, () => {
    const { canRefresh, raw, ...details } = purchase;
    return details;
  }),
  respondTo(listPurchaseActions, ({ params: { purchaseId = '' } }) => ({
    purchaseId,
    rows: [
      {
        action: 'refund' as const,
        isPossible: true,
        why: null,
        effect: 'The store refunds the payment.',
        payment: { transactionId: 'store_a:1', amountMicros: 9_990_000, currency: 'USD', allowsPart: true },
      },
      { action: 'cancel' as const, isPossible: false, why: 'The subscription does not renew.', effect: null },
    ],
  })),
  respondTo(getPurchaseOwners, ({ params: { purchaseId = '' } }) => ({
    purchaseId,
    strategy: 'all' as const,
    decidedBy: 'strategy' as const,
    entitledUsers: ['alice'],
    claims: [],
    userAliases: [],
  })),
  respondTo(getPurchaseTimeline, () => ({
    purchaseId: 'store_a:1',
    asOf: date,
    checkedAt: date,
    updatedAt: date,
    createdAt: date,
    failedRefreshes: 0,
    canRefresh: true,
    rows: [],
  })),
  respondTo(getCustomerTimeline, () => ({ applicationUsername: 'alice', rows: [] })),
  respondTo(getCustomerTransactions, () => ({ applicationUsername: 'alice', transactions: [payment] })),
  respondTo(getCustomerClaims, () => ({ applicationUsername: 'alice', rows: [] })),
  respondTo(search, () => ({ results: [] })),
  respondTo(searchEvents, ({ query }) => ({
    ok: true,
    ...(query.cursor === undefined
      ? { rows: [], nextCursor: 'behind-the-reads' }
      : { rows: [toEvent('e1', 'receipt.validated')] }),
  })),
  respondTo(listTransactions, ({ query }) =>
    query.startdate === undefined ? { paging, rows: [payment] } : { paging: { ...paging, total: 0 }, rows: [] },
  ),
  respondTo(getCustomerEntitlements, () => ({
    applicationUsername: 'alice',
    entitlements: {},
    asOf: '2026-01-01T00:00:00.000Z',
  })),
  respondTo(listGrants, () => ({ applicationUsername: 'alice', rows: [] })),
  respondTo(listDeliveries, () => ({ rows: [delivery] })),
  respondTo(getWebhookStats, () => ({ countedFrom: date, isComplete: true, rows: [] })),
  respondTo(listStores, () => ({
    appName: 'demo',
    rows: [
      {
        platform: 'store_a' as const,
        isFailing: false,
        health: 'unused' as const,
        lastHour: noRequests,
        lastDay: noRequests,
      },
    ],
  })),
];

const refundRequest = {
  id: 'refund_1',
  platform: 'store_a' as const,
  purchaseId: 'store_a:1',
  transactionId: 'store_a:1',
  productId: 'store_a:coins',
  applicationUsername: 'alice',
  state: 'open' as const,
  reason: 'UNINTENDED_PURCHASE',
  isSandbox: false,
  requestedAt: new Date(Date.now() - 3_600_000).toISOString(),
  deadline: new Date(Date.now() + 11 * hourMs).toISOString(),
  facts: {
    isDelivered: true,
    isConsumed: true,
    customerSince: null,
    purchaseCount: 2,
    paidUSD: 9.98,
    refundedUSD: 0,
    consentedAt: null,
  },
  preparedAnswer: {
    preference: 'decline' as const,
    customerConsented: false,
    sampleContentProvided: false,
    why: ['The purchase is consumed.'],
  },
  answer: null,
  outcome: null,
  outcomeAt: null,
};

let rendered: RenderedConsole;
afterEach(() => rendered.close());

/** Opens a page. Routes in front take precedence. */
const open = async (path: string, further: typeof routes = [], options = {}): Promise<RenderedConsole> => {
  rendered = await renderConsole(path, [...further, ...routes], options);
  return rendered;
};

describe('Customers page', () => {
  it('requests the filters of the URL, and shows payments and the first purchase', async () => {
    const list = respondTo(listCustomers, ({ query }) => ({
      paging,
      rows: [
        {
          applicationUsername: 'a,b',
          customerInfo: {},
          createdAt: date,
          ...(query.include_spend === 'true' && { spend: { amountUSD: 12.5, isComplete: true } }),
        },
      ],
    }));
    const page = await open('/customers?state=trial&entitlement=pro', [list]);
    await page.waitForText('$12.50');
    expect(page.requests.some((sent) => sent.includes('state=trial&entitlement=pro&sandbox=false'))).toBe(true);
    expect(page.requests.some((sent) => sent.includes('applicationUsername=a%252Cb&include_spend=true'))).toBe(true);
  });

  it('shows the end of the last purchase as such, because a subscriber can have bought coins last', async () => {
    const bought = {
      applicationUsername: 'ann',
      customerInfo: { activeSubscriber: true, lastPurchaseId: 'store_a:1' },
    };
    const list = respondTo(listCustomers, () => ({ paging, rows: [bought] }));
    const page = await open('/customers', [list]);
    await page.waitForText('Active', 'All customers');
    const titles = page.findAll('th[scope=col]').map(({ textContent }) => textContent);
    expect(titles).toContain('Last purchase until');
    expect(titles).not.toContain('Access until');
  });

  it('states what to do if nothing is found', async () => {
    const page = await open('/customers?q=nobody');
    await page.waitForText('Nothing has the name or id nobody.');
  });
});

describe('Search dialog', () => {
  it('names the limit of a search that has found as many customers', async () => {
    const results = Array.from({ length: 20 }, (_, index) => ({
      ...{ type: 'customer' as const, match: 'prefix' as const },
      applicationUsername: `user-${index}`,
    }));
    const found = respondTo(search, ({ query: { q } }) => ({ results: results.slice(q === 'user' ? 0 : 1) }));
    const page = await open('/customers?q=user', [found]);
    await page.waitForText('A search finds at most 20 customers.');
    page.go('/customers?q=use');
    await page.waitForText(/user-19(?!.*at most 20)/s);
  });

  it('states that nothing has the name only if no page has it', async () => {
    const page = await open('/stores', [respondTo(search, () => ({ results: [] }))]);
    const countSearches = () => page.requests.filter((request) => request.includes('/v3/search')).length;
    const label = 'Page, beginning of a word of a name, or an id';
    await page.waitForText('App Store');
    page.press('k', { ctrlKey: true });
    await page.enter(label, 'rev');
    await waitFor('the search', countSearches, (count) => count === 1);
    await waitFor(
      'the end of the search',
      () => page.findAll('dialog .skeleton').length,
      (count) => count === 0,
    );
    expect(page.readText('Search')).toMatch(/Revenue/);
    expect(page.readText('Search')).not.toMatch(/Nothing has/);
    await page.enter(label, 'revx');
    await page.waitForText('Nothing has the name or id revx.', 'Search');
  });

  it('finds a customer from any page by Ctrl-K', async () => {
    const found = respondTo(search, () => ({
      results: [{ type: 'customer' as const, match: 'prefix' as const, applicationUsername: 'alice' }],
    }));
    const page = await open('/stores', [found]);
    await page.waitForText('App Store');
    page.press('k', { ctrlKey: true });
    // The next key belongs to the search: the dialog does not wait for another file.
    await Promise.resolve();
    expect(page.findAll('dialog input')).toHaveLength(1);
    await page.enter('Page, beginning of a word of a name, or an id', 'ALI');
    await page.click('alice', 'Search');
    await page.waitForText('Access now');
    expect(page.findAll('dialog')).toEqual([]);
  });
});

describe('Purchase page', () => {
  it('states what to do for an unknown id', async () => {
    const notFound = { ok: false, status: 404, code: 'ResourceNotFound', message: '-' } as const;
    const page = await open('/purchases/store_a:1', [respondTo(getPurchase, () => notFound)]);
    await page.waitForText('The app has no purchase with this id.');
  });

  it('shows the events behind a page that has only reads', async () => {
    const page = await open('/purchases/store_a:1?tab=raw');
    await page.waitForText('receipt.validated');
  });
});

describe('Actions of a purchase', () => {
  it('performs an action after a confirmation with the amount and the customer', async () => {
    const bodies: unknown[] = [];
    const act = respondTo(actOnPurchase, ({ body }) => {
      bodies.push(body);
      const { canRefresh, raw, ...details } = purchase;
      return {
        purchaseId: 'store_a:1',
        action: 'refund' as const,
        reason: 'Ticket 4711',
        dryRun: false,
        effect: 'The store refunds the payment.',
        performedAt: date,
        performedBy: { id: 'k1', name: 'default' },
        storeAnswer: { status: 'succeeded' },
        isConfirmed: true,
        purchase: details,
      };
    });
    const page = await open('/purchases/store_a:1', [act], { level: 'support' });
    await page.waitForText('The subscription does not renew.', 'Actions');
    await page.click('Refund', 'Actions');
    await page.waitForText('Refund $9.99 for premium to alice?');
    await page.enter('Amount in USD', '5');
    await page.waitForText('Refund $5.00 for premium to alice?');
    await page.enter('Reason', 'Ticket 4711');
    await page.click('Confirm');
    await waitFor(
      'the request',
      async () => bodies,
      ({ length }) => length === 1,
    );
    expect(bodies).toMatchObject([
      { action: 'refund', amountMicros: 5_000_000, transactionId: 'store_a:1', reason: 'Ticket 4711' },
    ]);
  });

  it('lists the actions to a viewer key without buttons', async () => {
    const page = await open('/purchases/store_a:1', [], { level: 'viewer' });
    await page.waitForText('The store refunds the payment.', 'Actions');
    expect(page.findAll('button', 'Actions')).toEqual([]);
  });
});

describe('Transactions page', () => {
  it('filters by days, and keeps the filter in the URL', async () => {
    const page = await open('/transactions?from=2001-01-01&to=2001-01-31');
    await page.waitForText('No transaction matches the filters.');
    await page.click('Remove the filters');
    await page.waitForText('$9.99');
    expect(location.hash).toBe('#/transactions');
  });

  it('requests the filters of the URL without sandbox, and shows the customer', async () => {
    const listOfAlice = respondTo(listTransactions, () => ({
      paging,
      rows: [{ ...payment, entitledUsers: ['alice', 'bob'] }],
    }));
    const path = '/transactions?user=alice&platform=store_a&product=premium&refunded=true&order=oldest';
    const page = await open(path, [listOfAlice]);
    await page.waitForText('alice and 1 more');
    const [request = ''] = page.requests.filter((sent) => sent.includes('sandbox='));
    expect(Object.fromEntries(new URL(request.slice('GET '.length), 'http://x').searchParams)).toEqual({
      applicationUsername: 'alice',
      platform: 'store_a',
      productId: 'premium',
      refunded: 'true',
      sandbox: 'false',
      order: 'oldest',
      limit: '50',
      include_customers: 'true',
    });
  });

  it.each([
    ['/transactions', respondTo(listTransactions, () => ({ paging, rows: [], unreadableIds: ['store_a:damaged'] }))],
    ['/customers', respondTo(listCustomers, () => ({ paging, rows: [], unreadableUsers: ['damaged'] }))],
  ])('names what the list of %s leaves out', async (path, route) => {
    const page = await open(path, [route]);
    await page.waitForText('damaged: the stored data is not readable.');
  });

  it('exports all pages of the result with their number of rows', async () => {
    const pageOfThree = respondTo(listTransactions, ({ query: { cursor = 'c0', limit = '' } }) => ({
      paging,
      rows: [{ ...payment, transactionId: `store_a:${cursor}` }],
      ...(limit === '1000' && cursor !== 'c2' && { nextCursor: `c${Number(cursor.slice(1)) + 1}` }),
    }));
    const page = await open('/transactions', [pageOfThree]);
    await page.click('Export all as CSV');
    await page.waitForText('3 rows are downloaded.');
    expect(page.requests.filter((sent) => sent.includes('limit=1000'))).toHaveLength(3);
  });

  it('leads from an app with sandbox transactions only to them', async () => {
    const sandboxOnly = respondTo(listTransactions, ({ query }) =>
      query.sandbox === 'false' ? { paging: { ...paging, total: 0 }, rows: [] } : { paging, rows: [payment] },
    );
    const page = await open('/transactions', [sandboxOnly]);
    await page.click('Show sandbox transactions');
    await page.waitForText('$9.99');
  });
});

describe('Events page', () => {
  it.each(['/events', '/events?tag=alice', '/events?live=true', '/events?tag=alice&live=true'])(
    'shows events behind a page of reads at %s',
    async (path) => {
      const listBehindReads = respondTo(listEvents, ({ query }) => ({
        ok: true,
        ...(query.cursor === undefined
          ? { rows: [], nextCursor: 'behind-the-reads' }
          : { rows: [toEvent('e1', 'receipt.validated')] }),
      }));
      const page = await open(path, [listBehindReads]);
      await page.waitForText('Receipt validated');
      expect(page.requests.filter((request) => request.includes('reads=false')).length).toBeGreaterThan(0);
    },
  );

  it('adds older events to the table until there are none', async () => {
    const reads = Array.from({ length: 110 }, (_, index) => toEvent(`read-${index}`, 'customer.read'));
    const events = [...reads, toEvent('e1', 'receipt.validated')];
    const searchPages = respondTo(searchEvents, ({ query: { cursor = '0' } }) => {
      const end = Number(cursor) + 100;
      return {
        ok: true,
        rows: events.slice(Number(cursor), end),
        ...(end < events.length && { nextCursor: String(end) }),
      };
    });
    const page = await open('/events?tag=reader&reads=true', [searchPages]);
    await page.waitForText('the latest 100 events');
    expect(page.readText()).not.toContain('Receipt validated');
    await page.click('Show older events');
    await page.waitForText('Receipt validated');
    expect([page.findAll('tbody tr').length, page.readText().includes('Show older events')]).toEqual([111, false]);
  });

  it('requests reads only if they are selected', async () => {
    const failedRead = respondTo(searchEvents, ({ query: { reads } }) => ({
      ok: true,
      rows: reads === 'false' ? [] : [toEvent('e1', 'purchase.read')],
    }));
    const page = await open('/events?tag=error', [failedRead]);
    await page.waitForText('No request, notification or webhook has failed.');
    page.go('/events?tag=error&reads=true');
    await page.waitForText('Purchase read');
  });
});

describe('Webhooks page', () => {
  it('shows the deliveries, the times and the last failure of each URL', async () => {
    const stats = {
      url: 'https://app.example/purchases',
      numDeliveries: 840,
      numFailed: 2,
      failedAttempts: 17,
      medianMs: 410,
      percentile95Ms: 5_400_000,
      lastFailure: { deliveryId: 'dlv_1', date, message: 'The server responded with 500.' },
    };
    const page = await open('/webhooks?from=2026-01-01&to=2026-01-02', [
      respondTo(getWebhookStats, () => ({ countedFrom: date, isComplete: false, rows: [stats] })),
    ]);
    await page.waitForText('The newest 1,000 deliveries since', 'URLs');
    for (const text of ['840', '17', '410 ms', '1.5 h', 'The server responded with 500.'])
      await page.waitForText(text, 'URLs');
    const period = 'GET /v3/webhooks/stats?startdate=2026-01-01&enddate=2026-01-03';
    expect(page.requests).toContain(period);
  });

  it.each([
    ['forward', 'Forward'],
    ['credits.updated', 'credits.updated'],
    ['refund.requested', 'refund.requested'],
  ] as const)('names the type of a webhook that is about no change of a purchase: %s', async (type, text) => {
    const other = { ...delivery, type, notification: { ...delivery.notification, reason: 'OTHER' } };
    const page = await open('/webhooks', [respondTo(listDeliveries, () => ({ rows: [other] }))]);
    await page.waitForText(text, 'Deliveries');
    expect(page.readText()).not.toContain('OTHER');
  });

  it('keeps the filters in the URL, and offers to remove filters that match nothing', async () => {
    const page = await open('/webhooks?state=dead&user=nobody', [
      respondTo(listDeliveries, ({ query: { state } }) => ({ rows: state === 'dead' ? [] : [delivery] })),
    ]);
    await page.waitForText('No delivery matches the filters.');
    await page.click('Remove the filters');
    await page.waitForText('PURCHASED');
    await page.enter('State', 'delivered');
    await waitFor('the filter in the URL', () => location.hash.includes('state=delivered'));
  });

  it('searches behind a page without matching deliveries', async () => {
    const page = await open('/webhooks', [
      respondTo(listDeliveries, ({ query: { cursor } }) => ({
        rows: [],
        ...(cursor === undefined && { nextCursor: 'next' }),
      })),
    ]);
    await page.waitForText('The service has not sent a webhook.');
    const requests = page.requests.filter((request) => request.includes('/v3/webhooks/deliveries'));
    expect([requests[0]?.includes('cursor'), requests[1]?.includes('cursor=next')]).toEqual([false, true]);
  });

  it('offers older deliveries if many pages have none that matches', async () => {
    const page = await open('/webhooks', [respondTo(listDeliveries, () => ({ rows: [], nextCursor: 'next' }))]);
    await page.waitForText('None of the latest deliveries matches the filters.');
    await page.waitForText('Older', 'Deliveries');
  });

  it('stops a replay of several requests when the session ends', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const replay = respondTo(replayDeliveries, async () => {
      await released;
      return { ok: true, replayed: 1_000, isComplete: false };
    });
    const page = await open('/webhooks?state=delivered', [replay]);
    await page.click(/^Retry all delivered/);
    await page.waitForText('1 delivered delivery is sent again');
    await page.click('Retry');
    const countReplays = () => page.requests.filter((request) => request.startsWith('POST')).length;
    await waitFor('the first request', () => countReplays() === 1);
    await page.click('Sign out');
    release();
    await page.waitForText('Sign in');
    await delay(50);
    expect(countReplays()).toBe(1);
  });

  it('retries all deliveries that wait or are dead of a URL in one action, with its progress', async () => {
    const url = 'https://app.example/purchases';
    const bodies: object[] = [];
    const rows = respondTo(listDeliveries, ({ query: { state = 'pending' } }) => ({
      rows: Array.from(
        { length: 3 },
        (_, index) => ({ ...delivery, state, deliveryId: `${state}-${index}` }) as DeliveryRecord,
      ),
    }));
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const replay = respondTo(replayDeliveries, async ({ body }) => {
      bodies.push(body as object);
      if (bodies.length === 3) await released;
      return { ok: true, replayed: bodies.length === 1 ? 2 : 1, isComplete: bodies.length > 1 };
    });
    const page = await open(`/webhooks?url=${encodeURIComponent(url)}`, [rows, replay]);
    await page.click(/^Retry all failed/);
    await page.waitForText(`6 pending or dead deliveries are sent again to ${url}`);
    await page.click('Retry');
    await page.waitForText('3 of 6 enqueued');
    release();
    await page.waitForText('4 deliveries are enqueued.');
    expect(bodies.map((body) => (body as { state: string }).state)).toEqual(['pending', 'pending', 'dead']);
    expect(bodies).toEqual(bodies.map(() => expect.objectContaining({ url })));
  });
});

describe('Refund requests page', () => {
  /** Lists the requests by state and page, like the service. */
  const respondWithRequests = (...requests: readonly RefundRequestRecord[]) =>
    respondTo(listRefundRequests, ({ query: { state, cursor = '0', limit } }) => {
      const rows = requests.filter((request) => state === undefined || request.state === state);
      const end = Number(cursor) + Number(limit);
      return { rows: rows.slice(Number(cursor), end), ...(end < rows.length && { nextCursor: String(end) }) };
    });

  it('shows all open requests, the nearest deadline first, and the closed ones before them', async () => {
    const waiting = Array.from({ length: 220 }, (_value, index) => {
      const deadline = new Date(Date.now() + (12 - index / 20) * hourMs).toISOString();
      return { ...refundRequest, id: `refund_${index}`, productId: `store_a:coins${index}`, deadline };
    });
    const closed = (['answered', 'expired'] as const).map((state, index) => ({
      ...refundRequest,
      id: state,
      productId: `store_a:${state}`,
      state,
      requestedAt: new Date(Date.now() - (5 - index) * hourMs).toISOString(),
    }));
    await open('/refund-requests', [respondWithRequests(...waiting, ...closed)]);
    await rendered.waitForText('coins119');
    const listProducts = (region: string) => rendered.findAll('th a', region).map(({ textContent }) => textContent);
    expect(listProducts('Open')).toEqual(waiting.map((_request, index) => `coins${219 - index}`));
    expect(listProducts('Answered and expired')).toEqual(['expired', 'answered']);
  });

  /** Declines the request, and returns the body of the statement. */
  const decline = async (changes: object, store: string, confirm = async (_page: RenderedConsole) => {}) => {
    const bodies: unknown[] = [];
    // Counts from the response: the tests before it take a while.
    const deadline = () => new Date(Date.now() + 11 * hourMs - minuteMs / 2).toISOString();
    const request = { ...refundRequest, ...changes };
    const list = respondTo(listRefundRequests, ({ query }) => ({
      rows: query.state === 'open' ? [{ ...request, deadline: deadline() }] : [],
    }));
    const reply = respondTo(answerRefundRequest, ({ body }) => {
      bodies.push(body);
      return { ...request, state: 'answered' as const };
    });
    const page = await open('/refund-requests', [list, reply]);
    await page.waitForText('10 h 59 min');
    await page.waitForText('The purchase is consumed.');
    await page.click('Decline');
    await page.waitForText('The payment of alice, who has paid $9.98 in total.');
    await confirm(page);
    await page.click('Decline', `Decline: send the statement to ${store}?`);
    await page.waitForText('The statement is sent.');
    return bodies;
  };
  const consent = 'The customer has consented';
  const consented = { preparedAnswer: { ...refundRequest.preparedAnswer, customerConsented: true } };

  it('shows the time left, and sends the stored consent in two clicks', async () => {
    const confirm = async (page: RenderedConsole) => {
      expect(page.readText()).toContain(consent);
      expect(page.findAll('dialog input')).toEqual([]);
    };
    expect(await decline(consented, 'App Store', confirm)).toEqual([{ preference: 'decline' }]);
  });

  it.each([
    ['is still open', 'open', 1],
    ['is answered', 'answered', 2],
  ] as const)('loads the closed requests again only with a change: the request %s', async (_what, after, count) => {
    let state: RefundRequestRecord['state'] = 'open';
    const list = respondTo(listRefundRequests, ({ query }) => ({
      rows: query.state === state ? [{ ...refundRequest, ...consented, state }] : [],
    }));
    const reply = respondTo(answerRefundRequest, () => {
      state = after;
      return { ...refundRequest, state: 'answered' as const };
    });
    const page = await open('/refund-requests', [list, reply]);
    await page.click('Decline');
    await page.click('Decline', 'Decline: send the statement to App Store?');
    await page.waitForText('coins', after === 'open' ? 'Open' : 'Answered and expired');
    const countRequests = (listed: string) => page.requests.filter((sent) => sent.includes(`state=${listed}`)).length;
    await waitFor('the open requests', () => countRequests('open') === 2);
    expect([countRequests('answered'), countRequests('expired')]).toEqual([count, count]);
  });

  it.each([
    ['store_a', false],
    ['apple', true],
  ])('requests the consent that the App Store requires: %s, %s', async (platform, isConsented) => {
    const confirm = async (page: RenderedConsole) => {
      await page.waitForText(consent);
      const [box] = page.findAll('dialog input') as HTMLInputElement[];
      if (isConsented) box?.click();
    };
    expect(await decline({ platform }, 'App Store', confirm)).toEqual([
      { preference: 'decline', customerConsented: isConsented },
    ]);
  });

  it.each(['store_b', 'google'])(
    'sends no consent to Google Play, for which nobody was asked: %s',
    async (platform) => {
      const confirm = async (page: RenderedConsole) => expect(page.readText()).not.toMatch(/consent|App Store/);
      expect(await decline({ platform }, 'Google Play', confirm)).toEqual([{ preference: 'decline' }]);
    },
  );

  it.each(['store_b' as const, 'google' as const])(
    'shows that Google Play does not report a declined refund: %s',
    async (platform) => {
      const expired = { ...refundRequest, platform, state: 'expired' as const };
      const page = await open('/refund-requests', [respondWithRequests(expired)]);
      await page.waitForText('Google Play reports refunds only', 'Answered and expired');
    },
  );

  it('lets names break at dots and underscores, and not inside amounts', async () => {
    const request = { ...refundRequest, productId: 'store_a:com.example.coins_1.5', reason: 'UNINTENDED_PURCHASE' };
    const page = await open('/refund-requests', [respondWithRequests(request)]);
    await page.waitForText('UNINTENDED_PURCHASE', 'Open');
    const htmls = page.findAll('th a, td[data-title="Reason"]').map(({ innerHTML }) => innerHTML);
    expect(htmls).toEqual(['com.<wbr>example.<wbr>coins_<wbr>1.5', 'UNINTENDED_<wbr>PURCHASE']);
  });

  it('shows the statement buttons to a support agent', async () => {
    const page = await open('/refund-requests', [respondWithRequests(refundRequest)], { level: 'support' });
    await page.waitForText('The purchase is consumed.');
    expect(page.findAll('button').map(({ textContent }) => textContent)).toContain('Decline');
  });

  it('shows no statement button to a viewer', async () => {
    const page = await open('/refund-requests', [respondWithRequests(refundRequest)], { level: 'viewer' });
    await page.waitForText('The purchase is consumed.');
    expect(page.findAll('button').map(({ textContent }) => textContent)).not.toContain('Decline');
  });
});

describe('viewer key', () => {
  it.each([
    ['/customers', 'alice'],
    ['/customers/alice', 'premium'],
    ['/purchases/store_a:1', 'premium'],
    ['/transactions', '$9.99'],
    ['/webhooks', 'PURCHASED'],
    ['/stores', 'App Store'],
  ])('shows no change at %s to a viewer', async (path, text) => {
    const changes = /^(Link a purchase|Refresh at the store|Replay.*|Retry.*|Send a test|Check.*)$/;
    const page = await open(path, [], { level: 'viewer' });
    await page.waitForText(text);
    await waitFor('the whole page', () => page.findAll('.skeleton, .skeleton-text').length === 0);
    const names = page.findAll('button').map((button) => button.textContent ?? '');
    expect(names.filter((name) => changes.test(name))).toEqual([]);
    expect(page.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
  });
});

describe('Playback of a year', () => {
  const { setTimeout: realSetTimeout } = globalThis;
  afterEach(() => {
    globalThis.setTimeout = realSetTimeout;
  });

  it('moves the clock by a year in steps of at most a week', async () => {
    const day = 86_400_000;
    const start = Date.now();
    const times: number[] = [];
    rendered = await renderConsole('/transactions', routes, {
      respondAsStores: (_path, body) => {
        const { set } = (body ?? {}) as { readonly set?: string };
        if (set !== undefined) times.push(Date.parse(set));
        return { now: set ?? new Date(times.at(-1) ?? start).toISOString() };
      },
    });
    // A second of the page takes 10 ms.
    globalThis.setTimeout = ((run: () => void, ms = 0) => realSetTimeout(run, ms / 100)) as typeof setTimeout;
    const { advanceYear } = await loadConsoleModule('pages/emulator/playback.ts');
    await advanceYear?.();
    expect(times.at(-1)).toBeGreaterThanOrEqual(start + 365 * day);
    const steps = times.map((time, index) => time - (times[index - 1] ?? start));
    expect(Math.max(...steps)).toBeLessThan(7.1 * day);
  });
});

describe('Settings page', () => {
  const settingsRoutes = [
    respondTo(listKeys, () => ({ rows: [{ id: '0f110b8bbde7', name: 'main', level: 'secret' as const }] })),
    respondTo(getCatalogue, () => ({ premium: { type: 'paid subscription' as const } })),
    respondTo(getStoreSettings, () => ({ platform: 'store_a' as const, fields: storeFields })),
  ];
  const field = { kind: 'text' as const, isRequired: false, isSecret: false, isSet: true };
  const storeFields = [
    { ...field, name: 'bundleId', isRequired: true, value: 'com.example' },
    { ...field, name: 'appAppleId', kind: 'number' as const, value: 7 },
    { ...field, name: 'keyId', value: 'K1' },
    { ...field, name: 'privateKey', isSecret: true },
  ];

  it('shows the products of the catalogue by id', async () => {
    const product = { type: 'paid subscription' as const };
    const unsorted = respondTo(getCatalogue, () => ({ premium: product, coins: product, pro: product }));
    const page = await open('/settings', [unsorted, ...settingsRoutes]);
    const readIds = () => {
      const [text] = page.findAll('textarea', 'Catalogue') as unknown as { readonly value: string }[];
      return Object.keys(JSON.parse(text?.value || '{}'));
    };
    await waitFor('the catalogue', () => readIds().length > 0);
    expect(readIds()).toEqual(['coins', 'premium', 'pro']);
  });

  it('creates a key and shows it once', async () => {
    const create = respondTo(createKey, () => ({
      ok: true as const,
      key: 'view_new',
      id: 'abc',
      name: 'alice',
      level: 'viewer' as const,
    }));
    const page = await open('/settings', [...settingsRoutes, create]);
    await page.enter('Name', 'alice');
    await page.click('Create a key');
    await page.waitForText('Store the key now. It is not shown again. view_new');
    page.go('/customers');
    await page.waitForText('All customers');
    page.go('/settings');
    await page.waitForText('main');
    expect(page.readText()).not.toContain('view_new');
  });

  it('offers no change to a viewer key', async () => {
    const page = await open('/settings', settingsRoutes, { level: 'viewer' });
    await page.waitForText('The secret key can change the settings.');
    await page.waitForText('0f110b8bbde7');
    const buttons = page.findAll('main button').map(({ textContent }) => textContent);
    for (const name of ['Save', 'Revoke', 'Create a key', 'Check and save', 'Set the URLs', 'Preview the change'])
      expect(buttons).not.toContain(name);
  });

  it('saves the settings of a store from a form, and keeps a secret that is left empty', async () => {
    const bodies: unknown[] = [];
    const save = respondTo(setStore, ({ query, body }) => {
      bodies.push([query, body]);
      return { ok: true as const, platform: 'store_a' as const, check: 'The App Store accepts the key.' };
    });
    const page = await open('/settings', [...settingsRoutes, save]);
    await page.enter('bundleId', 'com.example.other');
    await page.enter('keyId (optional)', '');
    await page.click('Check and save');
    await page.waitForText('The App Store accepts the key. The settings are saved.');
    await page.enter('privateKey (saved: leave it empty to keep it)', '-----BEGIN PRIVATE KEY-----');
    await page.click('Check and save');
    await waitFor('the second request', () => bodies.length === 2);
    const settings = { bundleId: 'com.example.other', keyId: null, appAppleId: 7 };
    expect(bodies).toEqual([
      [{ merge: 'true' }, settings],
      [
        { merge: 'true' },
        { ...settings, bundleId: 'com.example', keyId: 'K1', privateKey: '-----BEGIN PRIVATE KEY-----' },
      ],
    ]);
  });

  it('rotates the signing secret without a change of the URLs', async () => {
    const bodies: unknown[] = [];
    const rotate = respondTo(setWebhook, ({ body }) => {
      bodies.push(body);
      return { ok: true as const, signingSecret: 'whsec_new' };
    });
    const page = await open('/settings', [...settingsRoutes, rotate]);
    await page.click('Rotate the signing secret');
    await page.click('Rotate', 'Rotate the signing secret?');
    await page.waitForText('Store the signing secret now. It is not shown again. whsec_new');
    expect(bodies).toEqual([{ rotateSecret: true, overlapHours: 24 }]);
  });

  it('sends a test alert, and shows why it was not accepted', async () => {
    const failure = { ok: false as const, status: 503, code: 'ConnectionFailed', message: 'The alert failed: gone.' };
    const page = await open('/settings', [...settingsRoutes, respondTo(testAlert, () => failure)]);
    await page.click('Send a test alert');
    await page.waitForText('The alert failed: gone.', 'Alerts');
  });

  it('reports an error in the JSON of a store, and sends nothing', async () => {
    const page = await open('/settings', settingsRoutes);
    await page.click('Edit as JSON');
    await page.enter(
      'Settings as JSON, in the format of the command app set-store. They replace all settings of the store',
      '{"bundleId": }',
    );
    await page.click('Check and save');
    await page.waitForText(/The settings must be a JSON object: Unexpected token/);
    expect(page.requests.filter((sent) => sent.startsWith('PUT'))).toEqual([]);
  });

  it('saves a catalogue only after its preview', async () => {
    const save = respondTo(setCatalogue, ({ query }) => ({
      ok: true as const,
      products: 1,
      ...(query.dryRun === 'true' && {
        preview: {
          entitlements: { pro: { gains: 2, loses: 0 } },
          customers: [],
          checkedPurchases: 2,
          checkedCustomers: 2,
          isComplete: true,
        },
      }),
    }));
    const page = await open('/settings', [...settingsRoutes, save]);
    await page.enter('Products as JSON', '{ "premium": { "type": "paid subscription", "entitlements": ["pro"] } }');
    await page.click('Preview the change', 'Catalogue');
    await page.waitForText('pro: 2 customers gain it, 0 lose it. 2 customers checked.');
    await page.click('Save', 'Catalogue');
    await page.waitForText('1 products are saved.');
  });
});
