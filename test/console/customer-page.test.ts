/**
 * The modules of the console hold the objects of jsdom until the end of the process.
 *
 * @jest-environment-options { "globalsCleanup": "off" }
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { getApp } from '../../lib/apps/contract.ts';
import {
  type CreditEntryRecord,
  getCustomerCredits,
  giveCredits,
  listCreditHistory,
  takeCredits,
} from '../../lib/credits/contract.ts';
import { addCustomerPurchase, getCustomerClaims, mergeCustomer } from '../../lib/customers/claim-contract.ts';
import { getCustomerTimeline, getCustomerTransactions, listCustomers } from '../../lib/customers/contract.ts';
import {
  changeGrant,
  createGrant,
  type EntitlementRecord,
  explainAccess,
  type GrantRecord,
  getCustomerEntitlements,
  listGrants,
  revokeGrant,
} from '../../lib/entitlements/contract.ts';
import { getPurchase, getPurchaseOwners, listPurchases } from '../../lib/purchases/contract.ts';
import type { PurchaseRow } from '../../lib/purchases/purchase-contract.ts';
import type { TimelineRecord } from '../../lib/purchases/timeline-contract.ts';
import type { TransactionRecord } from '../../lib/purchases/transaction-contract.ts';
import { setRefundConsent } from '../../lib/refunds/contract.ts';
import { type DeliveryRecord, listDeliveries, replayDelivery } from '../../lib/webhooks/contract.ts';
import { type ConsoleRequest, type RenderedConsole, renderConsole, respondTo } from '../../testing/render-console.ts';
import { waitFor } from '../../testing/wait-for.ts';

const dayMs = 86_400_000;
const toDate = (day: number): string => new Date(Date.parse('2026-01-01T00:00:00Z') + day * dayMs).toISOString();

const toPurchase = (productId: string, details: Partial<PurchaseRow> = {}): PurchaseRow => ({
  raw: null,
  purchaseId: `store_a:${productId}`,
  transactionId: `store_a:${productId}`,
  productId: `store_a:${productId}`,
  platform: 'store_a',
  purchaseDate: toDate(0),
  entitledUsers: ['alice'],
  notifications: [],
  canRefresh: true,
  ...details,
});

const toSubscription = (productId: string): PurchaseRow =>
  toPurchase(productId, { expirationDate: '2999-01-01T00:00:00.000Z', renewalIntent: 'Renew', isExpired: false });

const payment: TransactionRecord = {
  transactionId: 'store_a:1',
  purchaseId: 'store_a:premium',
  productId: 'store_a:premium',
  platform: 'store_a',
  sandbox: false,
  purchaseDate: toDate(0),
  amountUSD: 9.99,
  amountMicros: 9_990_000,
  currency: 'USD',
};

const toEvent = (day: number, eventType: string): TimelineRecord => ({
  type: 'event',
  date: toDate(day),
  eventId: `${eventType}-${day}`,
  eventType,
  ok: true,
  applicationUsername: 'alice',
  purchaseIds: ['store_a:premium'],
});

/** The state of a service with the customer `alice`. */
interface Data {
  purchases: PurchaseRow[];
  payments?: TransactionRecord[];
  /** Newest first. */
  timeline: TimelineRecord[];
  claims?: 'validation' | 'manual';
  unowned?: string[];
  /** By the last attempt, newest first. */
  deliveries?: DeliveryRecord[];
  entitlements?: Record<string, EntitlementRecord>;
  grants?: GrantRecord[];
  /** Changes of coins, latest first. */
  credits?: CreditEntryRecord[];
}

const key = { id: 'k1', name: 'main' };

const givenGrant = (grant: Partial<GrantRecord> = {}): GrantRecord => ({
  grantId: 'grant_1',
  entitlement: 'premium',
  isActive: true,
  reason: 'Lost phone',
  createdAt: toDate(0),
  createdBy: key,
  until: null,
  ...grant,
});

const givenEntitlement = (entitlement: Partial<EntitlementRecord> = {}): EntitlementRecord => ({
  isActive: true,
  since: toDate(0),
  until: '2999-01-01T00:00:00.000Z',
  willRenew: true,
  isSandbox: false,
  isInGracePeriod: false,
  source: { type: 'purchase', purchaseId: 'store_a:premium', platform: 'store_a', productId: 'store_a:premium' },
  ...entitlement,
});

/** Responds to the requests of the panel of entitlements. A change of a grant changes the data. */
const toEntitlementRoutes = (data: Data) => {
  const change = (grantId: string | undefined, fields: Partial<GrantRecord>) => {
    data.grants = (data.grants ?? []).map((grant) => (grant.grantId === grantId ? { ...grant, ...fields } : grant));
    const changed = data.grants.find((grant) => grant.grantId === grantId) ?? givenGrant();
    return { applicationUsername: 'alice', ...changed };
  };
  return [
    respondTo(getApp, () => ({
      appName: 'demo',
      createdAt: toDate(0),
      key: { ...key, level: 'secret' as const },
      strategy: 'all' as const,
      sandboxEntitlements: 'all' as const,
      tokenMinutes: 60,
      vocabulary: 'neutral' as const,
      unverifiedHours: 24,
      catalogue: data.entitlements
        ? { premium: { type: 'paid subscription' as const, entitlements: ['premium', 'offline'] } }
        : data.credits
          ? { coins_100: { type: 'consumable' as const, credits: { coins: 100 } } }
          : {},
      stores: [],
      service: { version: '1.0.0' },
    })),
    respondTo(getCustomerEntitlements, () => ({
      applicationUsername: 'alice',
      entitlements: data.entitlements ?? {},
      asOf: toDate(1),
    })),
    respondTo(listGrants, () => ({ applicationUsername: 'alice', rows: data.grants ?? [] })),
    respondTo(createGrant, ({ body }) => {
      const grant = givenGrant(body as Partial<GrantRecord>);
      const { idempotencyKey: _key, ...stored } = { idempotencyKey: '', ...grant };
      data.grants = [...(data.grants ?? []), stored];
      return { applicationUsername: 'alice', ...stored };
    }),
    respondTo(changeGrant, ({ params, body }) => {
      const { until } = body as { until: string };
      return change(params.grantId, { until: `${until}T00:00:00.000Z` });
    }),
    respondTo(revokeGrant, ({ params }) => change(params.grantId, { isActive: false, revokedAt: toDate(1) })),
    respondTo(explainAccess, () => ({
      applicationUsername: 'alice',
      entitlement: 'premium',
      isActive: true,
      because: [
        { at: toDate(0), source: 'store_a:premium', what: 'The customer sent the receipt.', effect: 'none' as const },
        { at: null, source: 'store_a:premium', what: 'Access is paid.', effect: 'gives' as const },
      ],
      next: { at: toDate(30), what: 'The store renews the subscription.' },
      asOf: toDate(1),
    })),
  ];
};

/** Responds to the requests of credits. A change of them changes the data. */
function toCreditRoutes(data: Data) {
  const change = (type: 'given' | 'taken', body: unknown) => {
    const { credit, amount, reason } = body as { credit: string; amount: number; reason: string };
    const balance = (data.credits?.[0]?.balance ?? 0) + (type === 'given' ? amount : -amount);
    const entry = { id: `credit_${type}`, type, at: toDate(9), credit, amount, balance, reason, key };
    data.credits = [entry, ...(data.credits ?? [])];
    return { applicationUsername: 'alice', isSandbox: false, ...entry };
  };
  return [
    respondTo(getCustomerCredits, () => ({
      applicationUsername: 'alice',
      isSandbox: false,
      credits: {
        coins: {
          balance: data.credits?.[0]?.balance ?? 0,
          granted: 100,
          spent: 40,
          takenBack: 0,
          expired: 0,
          lots: [
            {
              lotId: 'a',
              origin: 'payment' as const,
              amount: 100,
              left: 60,
              givenAt: toDate(0),
              expiresAt: toDate(90),
            },
          ],
          holds: [],
        },
      },
      asOf: toDate(1),
    })),
    respondTo(listCreditHistory, (request) => ({
      applicationUsername: 'alice',
      ...toCursorPage(data.credits ?? [], request),
    })),
    respondTo(giveCredits, ({ body }) => change('given', body)),
    respondTo(takeCredits, ({ body }) => change('taken', body)),
  ];
}

const timelinePage = 100;

/** Returns a page of a list. The cursor is the position of its first row. */
function toCursorPage<Row>(rows: readonly Row[], { query: { limit = '100', cursor = '0' } }: ConsoleRequest) {
  const end = Number(cursor) + Number(limit);
  return { rows: rows.slice(Number(cursor), end), ...(end < rows.length && { nextCursor: String(end) }) };
}

const toRoutes = (data: Data) => [
  respondTo(listCustomers, () => ({ paging: { skip: 0, limit: 100, total: 0 }, rows: [] })),

  ...toEntitlementRoutes(data),
  ...toCreditRoutes(data),
  respondTo(setRefundConsent, ({ body }) => ({
    applicationUsername: 'alice',
    consentedAt: (body as { readonly consented: boolean }).consented ? toDate(2) : null,
  })),
  respondTo(mergeCustomer, ({ body }) => ({
    ok: true as const,
    applicationUsername: 'alice',
    from: (body as { from: string }).from,
    mergeId: 'merge_5f0c8a1b9d3e4f6071829304',
    purchases: 1,
    aliases: 1,
    grants: 0,
    isComplete: true,
  })),
  respondTo(listDeliveries, () => ({ rows: data.deliveries ?? [] })),
  respondTo(replayDelivery, ({ params: { id = '' } }) => {
    data.deliveries = (data.deliveries ?? []).map((row) =>
      row.deliveryId === id ? { ...row, state: 'pending', failedAttempts: 0 } : row,
    );
    return { ok: true, delivery: data.deliveries[0] as DeliveryRecord };
  }),
  respondTo(listPurchases, ({ query: { skip = '0', limit = '100', active } }) => {
    const selected =
      active === undefined ? data.purchases : data.purchases.filter(({ isExpired }) => isExpired === false);
    return {
      paging: { skip: Number(skip), limit: Number(limit), total: selected.length },
      rows: selected.slice(Number(skip), Number(skip) + Number(limit)),
    };
  }),
  respondTo(getPurchase, ({ params: { purchaseId = '' } }) => {
    const { canRefresh, raw, ...purchase } = toSubscription(purchaseId.replace('store_a:', ''));
    return purchase;
  }),
  respondTo(getCustomerTimeline, (request) => ({
    applicationUsername: 'alice',
    ...toCursorPage(data.timeline, request),
  })),
  respondTo(getCustomerTransactions, () => ({
    applicationUsername: 'alice',
    transactions: data.payments ?? [payment],
  })),
  respondTo(getCustomerClaims, () => ({
    applicationUsername: 'alice',
    rows: (data.unowned ?? []).map((productId) => ({
      purchaseId: `store_a:${productId}`,
      productId: `store_a:${productId}`,
      platform: 'store_a' as const,
      isEntitled: false,
      source: 'validation' as const,
      firstClaimedAt: toDate(0),
      lastClaimedAt: toDate(0),
    })),
  })),
  respondTo(getPurchaseOwners, ({ params: { purchaseId = '' } }) => ({
    purchaseId,
    strategy: 'all' as const,
    decidedBy: data.claims === 'manual' || data.unowned ? ('manual' as const) : ('strategy' as const),
    entitledUsers: data.unowned ? ['hugo'] : ['alice'],
    claims: [
      {
        applicationUsername: 'alice',
        source: data.claims ?? 'validation',
        isEntitled: !data.unowned,
        firstClaimedAt: toDate(0),
        lastClaimedAt: toDate(0),
      },
    ],
    userAliases: [],
  })),
  respondTo(addCustomerPurchase, () => {
    data.claims = 'manual';
    return { ok: true, applicationUsername: 'alice', purchases: {} };
  }),
];

let rendered: RenderedConsole;
afterEach(() => rendered.close());

const open = async (data: Data, query = '', level: 'secret' | 'viewer' | 'support' = 'secret') => {
  rendered = await renderConsole(`/customers/alice${query}`, toRoutes(data), { level });
  return rendered;
};

describe('Customer page', () => {
  describe('with more entries than a page of the timeline', () => {
    const givenTimeline = (): Data => ({
      purchases: [toSubscription('premium')],
      timeline: [
        ...Array.from({ length: 105 }, (_, index) => toEvent(200 - index, 'purchase.claimed')),
        toEvent(1, 'receipt.validated'),
        { type: 'payment', date: toDate(0), transaction: payment },
      ],
    });

    it('shows payments that are older than the newest page of the timeline', async () => {
      const page = await open(givenTimeline(), '?tab=payments');
      await waitFor('the payment', () => page.findAll('tbody tr', 'History').length === 1);
      expect(page.readText('History')).toContain('$9.99');
      await page.click('Timeline');
      await page.waitForText('Show older entries');
    });

    it('loads older entries until one is of the selected kind', async () => {
      const page = await open(givenTimeline(), '?kind=payment');
      await page.waitForText(/Paid/, 'History');
      expect(page.requests.filter((request) => request.includes('cursor=100'))).toHaveLength(1);
    });

    it('loads older entries once each, and keeps them while new ones arrive', async () => {
      const data = givenTimeline();
      const page = await open(data);
      const countEntries = () => page.findAll('.timeline > li, ol > li', 'History').length;
      await waitFor('the newest entries', () => countEntries() === timelinePage);
      await page.click('Show older entries');
      await page.waitForText('Receipt validated', 'History');
      expect(countEntries()).toBe(107);
      expect(page.readText('History')).not.toContain('Show older entries');
      data.timeline = [toEvent(300, 'purchase.claimed'), ...data.timeline];
      page.poll();
      await waitFor('the new entry', () => countEntries() === 108);
    });
  });

  it('shows the entries behind a page of the timeline that has only reads', async () => {
    const routes = toRoutes({ purchases: [toSubscription('premium')], timeline: [] });
    const behindReads = respondTo(getCustomerTimeline, ({ query }) => ({
      applicationUsername: 'alice',
      ...(query.cursor === undefined
        ? { rows: [], nextCursor: 'behind-the-reads' }
        : { rows: [toEvent(1, 'receipt.validated')] }),
    }));
    rendered = await renderConsole('/customers/alice', [behindReads, ...routes]);
    await rendered.waitForText('Receipt validated', 'History');
  });

  it('shows the access of an old subscription below 105 later purchases, and pages all of them', async () => {
    const coins = Array.from({ length: 105 }, (_, index) => toPurchase(`coins-${index}`, { isExpired: true }));
    const page = await open({ purchases: [...coins, toSubscription('old-plan')], timeline: [] });
    await page.waitForText(/old-plan.*Active.*Renews on/, 'Access now');
    await page.waitForText('1–100 of 106', 'All purchases');
    const countReasons = () => page.readText('All purchases').match(/Claimed with a receipt/g)?.length ?? 0;
    expect(page.findAll('li', 'All purchases')).toHaveLength(100);
    expect(page.readText('All purchases')).not.toContain('old-plan');
    await waitFor('the reasons', () => countReasons() === 10);
    await page.click('Show the reasons of 10 more purchases', 'All purchases');
    await waitFor('further reasons', () => countReasons() === 20);
    await page.click('Older', 'All purchases');
    await page.waitForText('101–106 of 106', 'All purchases');
    expect(location.hash).toContain('skip=100');
    await page.waitForText('old-plan', 'All purchases');
    await page.click('Newer', 'All purchases');
    await page.waitForText('1–100 of 106', 'All purchases');
    expect(location.hash).not.toContain('skip');
  });

  it('states what to do for an unknown name', async () => {
    const page = await open({ purchases: [], payments: [], timeline: [] });
    await page.waitForText('The app has no customer with this name.');
  });

  it('lists a purchase that the customer claims and another customer owns', async () => {
    const page = await open({ purchases: [], timeline: [], unowned: ['lost'] });
    await page.waitForText(
      /lost.*Claimed with a receipt on .*, but it is linked manually to hugo\./,
      'Claimed, but not owned',
    );
  });

  it('shows the new reason after a link of a purchase that the customer already owned', async () => {
    const page = await open({ purchases: [toSubscription('premium')], timeline: [] });
    await page.waitForText(/Claimed with a receipt/, 'Access now');
    await page.click('Link a purchase');
    await page.enter('Purchase id', 'store_a:premium');
    await page.click('Find');
    await page.waitForText('Link this purchase to alice?');
    expect(page.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
    await page.click('Link');
    await page.waitForText(/Linked manually/, 'Access now');
  });

  it('shows what changed on another device: a new purchase, its payment and its reason', async () => {
    const data: Data = { purchases: [toSubscription('premium')], timeline: [toEvent(1, 'receipt.validated')] };
    const page = await open(data, '?tab=payments');
    await page.waitForText('$9.99', 'History');
    data.purchases = [toSubscription('family'), ...data.purchases];
    data.payments = [{ ...payment, transactionId: 'store_a:2', amountUSD: 14, amountMicros: 14_000_000 }, payment];
    data.timeline = [toEvent(2, 'purchase.claimed'), ...data.timeline];
    data.claims = 'manual';
    page.poll();
    await page.waitForText('$14.00', 'History');
    await page.waitForText(/family.*Linked manually.*premium.*Linked manually/, 'Access now');
  });

  describe('with entitlements', () => {
    const givenAccess = (): Data => ({
      purchases: [toSubscription('premium')],
      timeline: [toEvent(1, 'receipt.validated')],
      entitlements: { premium: givenEntitlement() },
    });

    it('shows the source of an entitlement, and the reasons on request', async () => {
      const page = await open(givenAccess());
      await page.waitForText(/premium Active renews by .*From premium, App Store/, 'Entitlements');
      await page.click('Why has the customer premium?', 'Entitlements');
      await page.waitForText(/The customer sent the receipt\..*Access is paid\. Gives access.*Next/, 'Entitlements');
    });

    it('creates, extends and revokes a grant with a support key', async () => {
      const page = await open(givenAccess(), '', 'support');
      await page.click('Grant access', 'Entitlements');
      await page.enter('Reason', 'Lost phone');
      await page.click('Grant', 'Grant access to alice');
      await page.waitForText(/Grants ?premium Active until .*Lost phone\. By main/, 'Entitlements');
      await page.click('Extend', 'Entitlements');
      await page.enter('Until (UTC, empty for no end)', '2999-12-31');
      await page.click('Save');
      await page.waitForText(/until .*2999/, 'Entitlements');
      await page.click('Revoke', 'Entitlements');
      await page.click('Revoke', 'Revoke the grant of premium?');
      await page.waitForText(/premium Revoked/, 'Entitlements');
      const changes = page.requests.filter((request) => !request.startsWith('GET'));
      expect(changes).toEqual([
        'POST /v3/customers/alice/grants',
        'PATCH /v3/customers/alice/grants/grant_1',
        'DELETE /v3/customers/alice/grants/grant_1',
      ]);
    });

    it.each([
      ['1 week', '7'],
      ['30 days', '30'],
      ['Until a day', 'day'],
      ['Without an end', ''],
    ])('grants access with the term %s', async (_name, term) => {
      const data = givenAccess();
      const page = await open(data, '', 'support');
      await page.click('Grant access', 'Entitlements');
      await page.enter('Reason', 'Lost phone');
      if (term !== '7') await page.enter('Term', term);
      if (term === 'day') await page.enter('Until (UTC)', '2999-12-31');
      const started = Date.now();
      await page.click('Grant', 'Grant access to alice');
      const { until = null } = (await waitFor('the grant', () => data.grants?.[0])) ?? {};
      if (term === 'day') expect(until).toBe('2999-12-31');
      else if (term === '') expect(until).toBeNull();
      else expect(Math.floor((Date.parse(until ?? '') - started) / 86_400_000)).toBe(Number(term));
    });

    it('grants access without an end after a day was entered', async () => {
      const data = givenAccess();
      const page = await open(data, '', 'support');
      await page.click('Grant access', 'Entitlements');
      await page.enter('Reason', 'Lost phone');
      await page.enter('Term', 'day');
      await page.enter('Until (UTC)', '2999-12-31');
      await page.enter('Term', '');
      await page.click('Grant', 'Grant access to alice');
      expect(await waitFor('the grant', () => data.grants?.[0])).toHaveProperty('until', null);
    });

    it.each([
      [true, 'A grant gives access now, no purchase does.'],
      [false, 'No purchase gives access now.'],
    ])('names what gives access without a purchase (active grant: %p)', async (isActive, title) => {
      const data = { ...givenAccess(), purchases: [], grants: [givenGrant({ isActive })] };
      const page = await open(data, '', 'support');
      await page.waitForText(title, 'Access now');
    });

    it('offers a viewer key the reasons and no change', async () => {
      const page = await open({ ...givenAccess(), grants: [givenGrant()] }, '', 'viewer');
      await page.waitForText('Lost phone', 'Entitlements');
      const names = page.findAll('button', 'Entitlements').map((button) => button.textContent);
      expect(names).toEqual(['Why?']);
      expect(page.findAll('.page-actions button')).toEqual([]);
    });

    it('shows a viewer key nothing for an app without entitlements', async () => {
      const page = await open({ purchases: [toSubscription('premium')], timeline: [] }, '', 'viewer');
      await page.waitForText(/premium/, 'Access now');
      expect(page.readText('Entitlements')).toBe('');
    });

    it('grants the first entitlement of an app without a catalogue', async () => {
      const page = await open({ purchases: [toSubscription('premium')], timeline: [] }, '', 'support');
      await page.waitForText('The customer has never had an entitlement.', 'Entitlements');
      await page.click('Grant access', 'Entitlements');
      await page.enter('Entitlement', 'pro');
      await page.enter('Reason', 'Lost phone');
      await page.click('Grant', 'Grant access to alice');
      await page.waitForText(/pro Active until .*Lost phone/, 'Entitlements');
    });
  });

  it('states that the app has not received the latest change, and retries it in two clicks', async () => {
    const failed: DeliveryRecord = {
      deliveryId: 'd2',
      type: 'purchases.updated',
      state: 'pending',
      url: 'https://app.example',
      notification: { id: 'n2', reason: 'RENEWED', date: toDate(2) },
      createdAt: toDate(2),
      failedAttempts: 3,
      failureReason: 'The server responded with 500.',
    };
    const delivered = { ...failed, deliveryId: 'd1', state: 'delivered' as const, failedAttempts: 0 };
    const received = { ...delivered, url: 'https://other.example' };
    const deliveries = [failed, received, delivered, { ...failed, deliveryId: 'd0', url: received.url }];
    const page = await open({ purchases: [toSubscription('premium')], timeline: [], deliveries });
    await page.waitForText(
      "The app's server has not received the latest change (RENEWED) at https://app.example: The server responded with 500.",
    );
    expect(page.readText()).not.toContain('(RENEWED) at https://other.example');
    await page.click('Retry');
    await page.click('Retry', 'Send this webhook again?');
    await waitFor('the end of the notice', () => !page.readText().includes('has not received'));
    expect(page.requests).toContain('POST /v3/webhooks/deliveries/d2/replay');
  });

  it('requests again only what can have changed', async () => {
    const page = await open({ purchases: [toSubscription('premium')], timeline: [toEvent(1, 'receipt.validated')] });
    await page.waitForText(/Claimed with a receipt/, 'Access now');
    const before = page.requests.length;
    for (let count = 1; count <= 2; count += 1) {
      page.poll();
      await waitFor('the requests', () => page.requests.length >= before + 2 * count);
    }
    const paths = page.requests.slice(before).map((request) => request.replace(/\?.*/, ''));
    expect([...new Set(paths)].sort()).toEqual(['GET /v3/customers/alice/timeline', 'GET /v3/purchases']);
  });
});

describe('Credits of a customer', () => {
  const givenCredits = (count = 1): Data => ({
    purchases: [toSubscription('premium')],
    timeline: [],
    credits: Array.from({ length: count }, (_, index) => ({
      id: `credit_${index}`,
      type: 'spent' as const,
      at: toDate(count - index),
      credit: 'coins',
      amount: 1,
      balance: 60 + index,
      reason: `Song ${index}`,
    })),
  });

  it.each([
    ['Give', 'Give 25 coins', 85],
    ['Take', 'Take 25 coins', 35],
  ])('%ss units after it has shown the balance before and after', async (action, confirm, balance) => {
    const page = await open(givenCredits(), '', 'support');
    await page.waitForText('60 coins 60 end on', 'Credits');
    await page.click(`${action} coins`);
    await page.enter('Units', '25');
    await page.enter('Reason', 'Outage');
    await page.click('Continue');
    await page.waitForText(`alice has 60 coins, and will have ${balance}. Reason: Outage`);
    expect(page.requests.filter((sent) => sent.startsWith('POST'))).toEqual([]);
    await page.click(confirm);
    await page.waitForText(`${balance} coins`, 'Credits');
    expect(page.requests.filter((sent) => sent.startsWith('POST'))).toEqual([
      `POST /v3/customers/alice/credits/${action.toLowerCase()}`,
    ]);
  });

  it('reads the history page by page, also with a viewer key, which changes nothing', async () => {
    const page = await open(givenCredits(25), '', 'viewer');
    await page.waitForText('60 coins', 'Credits');
    expect(page.findAll('button', 'Credits').map(({ textContent }) => textContent)).toEqual([]);
    const [details] = page.findAll('details', 'Credits') as (Element & { open: boolean })[];
    if (details) details.open = true;
    await page.waitForText('Song 19', 'Credits');
    expect(page.readText('Credits')).not.toContain('Song 20');
    await page.click('Show older changes', 'Credits');
    await page.waitForText('Song 24', 'Credits');
  });

  it('shows nothing for an app without credits', async () => {
    const page = await open({ purchases: [toSubscription('premium')], timeline: [] });
    await page.waitForText('premium', 'Access now');
    expect(page.requests.filter((sent) => sent.includes('/credits'))).toEqual([]);
  });
});

describe('Consent to statements about refunds', () => {
  it.each([
    ['true', 'alice consents.'],
    ['false', 'alice does not consent.'],
  ])('stores the consent as %s', async (choice, result) => {
    const page = await open({ purchases: [toSubscription('premium')], timeline: [] });
    await page.click('Consent to statements');
    await page.enter('The customer', choice);
    await page.click('Save');
    await page.waitForText(result);
    expect(page.requests.filter((sent) => sent.startsWith('PUT'))).toEqual(['PUT /v3/customers/alice/refund-consent']);
  });
});

describe('Merge of customers', () => {
  it('shows what moves before the merge, and the way back after it', async () => {
    const page = await open({ purchases: [toSubscription('premium')], timeline: [], unowned: ['coins', 'pro'] });
    await page.click('Merge a customer');
    await page.enter('Other customer', 'anonymous-1');
    await page.click('Show what moves');
    await page.waitForText('Claimed purchases that move: 2coins, App Storepro, App Store');
    expect(page.requests.filter((sent) => sent.startsWith('POST'))).toEqual([]);
    await page.click('Merge');
    await page.waitForText('customer unmerge demo alice merge_5f0c8a1b9d3e4f6071829304');
    expect(page.requests.filter((sent) => sent.startsWith('POST'))).toEqual(['POST /v3/customers/alice/merge']);
  });

  it.each(['viewer', 'support'] as const)('offers no merge to a %s key', async (level) => {
    const page = await open({ purchases: [toSubscription('premium')], timeline: [] }, '', level);
    await page.waitForText('premium', 'Access now');
    for (const change of ['Merge a customer', 'Consent to statements']) expect(page.readText()).not.toContain(change);
  });
});
