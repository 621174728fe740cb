import { describe, expect, it } from '@jest/globals';
import { invalidSettingsError } from '../../../lib/foundation/errors.ts';
import { type AppState, describeProblems } from '../../../lib/problems/describe-problems.ts';
import { createEnglishFormat } from '../../../lib/problems/english-format.ts';
import { addCure } from '../../../lib/problems/list-problems.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const format = createEnglishFormat(now);
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();
const none = { count: 0, isExact: true };
const url = 'https://app.example/webhooks';
const recent = { numDeliveries: 20, numFailed: 1 };
const someRequests = { numRequests: 5, numFailures: 1 };

/** An app in order. */
const healthy: Required<AppState> = {
  app: {
    webhooks: { urls: [url], sandboxUrls: [], includesPassword: true, events: [] },
    stores: [{ platform: 'store_a', isConnected: true }],
  },
  due: {
    countedUntil: minutesAgo(2),
    overdueRefreshes: { count: 2, oldest: minutesAgo(1), isExact: true },
    waitingWebhooks: { count: 1, oldest: minutesAgo(1), isExact: true },
    pendingWebhooks: { count: 1, oldest: minutesAgo(2), isExact: true },
    deadWebhooks: none,
    streamFailures: none,
    webhookUrls: [{ url, state: 'ok', recent }],
  },
  stores: {
    rows: [{ platform: 'store_a', isFailing: false, health: 'ok', lastHour: someRequests, lastDay: someRequests }],
  },
};

const describeApp = (app: Partial<Required<AppState>['app']>) =>
  describeProblems({ ...healthy, app: { ...healthy.app, ...app } }, format);
const describeDue = (due: Partial<Required<AppState>['due']>) =>
  describeProblems({ ...healthy, due: { ...healthy.due, ...due } }, format);

describe('describeProblems', () => {
  it('describes nothing for work of the last minutes', () => {
    expect(describeProblems(healthy, format)).toEqual([]);
  });

  it('describes statistics that are more than a minute late', () => {
    expect(describeDue({ countedUntil: minutesAgo(25) })).toEqual([
      {
        id: 'late-statistics',
        tone: 'warn',
        text: 'Figures, totals of lists and customer summaries are late: they contain what was stored until 25 minutes ago.',
      },
    ]);
  });

  it('describes a silent store with its cure', () => {
    const silence = { since: minutesAgo(3 * 24 * 60), usualHours: 24 };
    const rows = healthy.stores.rows.map((row) => ({ ...row, silence }));
    expect(describeProblems({ ...healthy, stores: { rows } }, format)).toEqual([
      {
        id: 'silent store_a',
        tone: 'warn',
        text:
          'The last notification of the App Store arrived 3 days ago. Usually, there is one at least every 24 hours: ' +
          'check the notification URL in the store.',
        link: { to: '/stores', label: 'Show the stores' },
      },
    ]);
  });

  it('describes expired keys of customers with their cure', () => {
    const expiredKey = { date: minutesAgo(180), message: 'A StoreID key for purchases is required.' };
    const rows = healthy.stores.rows.map((row) => ({ ...row, platform: 'store_c' as const, expiredKey }));
    expect(describeProblems({ ...healthy, stores: { rows } }, format)).toEqual([
      {
        id: 'expired-keys store_c',
        tone: 'warn',
        text:
          'The StoreID keys of customers have expired, so the Microsoft Store cannot be queried for their purchases ' +
          '(last attempt 3 hours ago). They keep access for one more period: the app must validate them again with a new key.',
        link: { to: '/events', query: { tag: 'error' }, label: 'Show the events' },
      },
    ]);
  });

  it('describes a store that does not respond, with its last failure', () => {
    const lastFailure = { date: minutesAgo(120), message: 'The store responded with status 503.' };
    const lastHour = { numRequests: 0, numFailures: 0 };
    const activity = {
      platform: 'store_b',
      isFailing: true,
      lastFailure,
      lastDay: { numRequests: 9, numFailures: 9 },
    } as const;
    const rows = [{ ...activity, health: 'failing' as const, lastHour }];
    expect(describeProblems({ ...healthy, stores: { rows } }, format)).toEqual([
      {
        id: 'store store_b',
        tone: 'bad',
        text: 'The last request to Google Play failed, 2 hours ago: The store responded with status 503.',
        link: { to: '/stores', label: 'Show the stores' },
      },
    ]);
  });

  it.each([
    ['failing', 'bad', 9],
    ['degraded', 'warn', 2],
    ['ok', undefined, 1],
    ['unused', undefined, 0],
  ] as const)('describes the share of failed requests of a store in the health %s', (health, tone, numFailures) => {
    const lastHour = { numRequests: 10, numFailures };
    const rows = [{ platform: 'store_b' as const, isFailing: true, health, lastHour, lastDay: lastHour }];
    const problems = describeProblems({ ...healthy, stores: { rows } }, format);
    expect(problems.map((problem) => [problem.tone, problem.text])).toEqual(
      tone ? [[tone, `${numFailures} of 10 requests to Google Play failed in the last hour.`]] : [],
    );
  });

  it('describes a URL without a successful attempt before a URL with some failures', () => {
    const failureReason = 'The server responded with 500.';
    const failing = { since: minutesAgo(1), message: failureReason };
    const webhookUrls = [
      {
        url: 'https://some.example',
        state: 'ok' as const,
        recent: { numDeliveries: 40, numFailed: 12, failureReason },
      },
      { url, state: 'failing' as const, recent: { numDeliveries: 3, numFailed: 3 }, failing },
    ];
    expect(describeDue({ webhookUrls }).map(({ tone, text }) => [tone, text])).toEqual([
      ['bad', `Every webhook to ${url} fails, the first one 1 minute ago: The server responded with 500.`],
      ['warn', '12 of the latest 40 webhooks to https://some.example have failed: The server responded with 500.'],
    ]);
  });

  it('describes why a URL does not respond in the first minute', () => {
    const failureReason = 'The server did not respond: connect ECONNREFUSED.';
    const webhookUrls = [{ url, state: 'backoff' as const, recent: { numDeliveries: 1, numFailed: 1, failureReason } }];
    expect(describeDue({ webhookUrls }).map(({ tone, text }) => [tone, text])).toEqual([
      ['warn', `${url} does not respond, so webhooks wait: ${failureReason}`],
    ]);
  });

  it('describes refreshes that are late', () => {
    const overdueRefreshes = { count: 1_000, oldest: minutesAgo(180), isExact: false };
    expect(describeDue({ overdueRefreshes })).toEqual([
      {
        id: 'late-refreshes',
        tone: 'bad',
        text: 'Refreshes that are late: at least 1,000, the oldest due 3 hours ago. Renewals and expirations are late, too.',
      },
    ]);
  });

  it('describes dead webhooks before those that wait, each with the list of them', () => {
    const problems = describeDue({
      pendingWebhooks: { count: 3, oldest: minutesAgo(60), isExact: true },
      deadWebhooks: { count: 1, oldest: minutesAgo(2), isExact: true },
    });
    expect(problems.map(({ tone, text, link }) => [tone, text, link?.query])).toEqual([
      [
        'bad',
        "Webhooks without further attempts: 1, the oldest created 2 minutes ago. The app's server has not received them.",
        { state: 'dead' },
      ],
      [
        'warn',
        "Webhooks that wait for a retry: 3, the oldest created 1 hour ago. The app's server has not received them.",
        { state: 'pending' },
      ],
    ]);
  });

  it('describes webhooks that a late queue has not sent', () => {
    const waitingWebhooks = { count: 100, oldest: minutesAgo(30), isExact: false };
    expect(describeDue({ waitingWebhooks })).toMatchObject([
      {
        tone: 'bad',
        text: 'Webhooks that are not sent yet: at least 100, the oldest created 30 minutes ago. The queue of webhooks is late.',
      },
    ]);
  });

  it('describes what is known while a part of the state cannot be loaded', () => {
    expect(describeProblems({}, format)).toEqual([]);
    expect(describeProblems({ app: { stores: [] } }, format)).toHaveLength(2);
  });

  it.each([
    ['disabled', 'bad', `Nothing is sent to ${url}: it responded with 410 Gone.`],
    ['backoff', 'warn', `${url} does not respond, so webhooks wait.`],
  ] as const)('describes a URL in the state %s', (state, tone, text) => {
    expect(describeDue({ webhookUrls: [{ url, state, recent }] })).toMatchObject([
      { tone, text, link: expect.any(Object) },
    ]);
  });

  it('describes changes that a worker of this release could not process', () => {
    const [problem] = describeDue({ streamFailures: { count: 2, isExact: true } });
    expect(problem).toEqual({
      id: 'stream-failures',
      tone: 'bad',
      text: 'Changes that are not processed: 2. Webhooks, credits or statistics are missing.',
    });
    const { streamFailures: _, ...due } = healthy.due;
    expect(describeProblems({ ...healthy, due }, format)).toEqual([]);
  });

  it('describes missing settings, but not webhooks that the operator has switched off', () => {
    const { webhooks: _, ...app } = healthy.app;
    const stores = [{ platform: 'store_a' as const, isConnected: false }];
    expect(describeProblems({ ...healthy, app: { ...app, stores } }, format).map(({ text }) => text)).toEqual([
      'The app has no webhook URL: its server receives no changes of purchases.',
      'No store is connected.',
    ]);
    expect(describeApp({ webhooks: { urls: [], sandboxUrls: [], includesPassword: true, events: [] } })).toEqual([]);
  });
});

describe('addCure', () => {
  const cure = (id: string, text = 'Late.') => addCure({ id, tone: 'bad', text }, 'shop').text;

  it('names the page with the cure of rejected settings', () => {
    const { message } = invalidSettingsError('Google Play', 'the key of the service account is deleted');
    expect(cure('store store_b', `The last request failed: ${message}`)).toMatch(
      /is deleted\. Check the settings with `doctor shop` or on the page Stores/,
    );
  });

  it.each([
    ['late-refreshes', /^Late\. Check the schedule and the log of `enqueue-due-items`\.$/],
    ['late-statistics', /^Late\. Check the schedule of `enqueue-due-items`/],
    [
      'stream-failures',
      /^Late\. An item is unreadable, .+ run `webhooks stream-failures list`.+ `webhooks stream-failures replay`\.$/,
    ],
    [
      'webhook-url https://app.example/hook',
      /^Late\. Start or correct the server of the app, .+ `webhooks replay shop --failed`\.$/,
    ],
    ['no-store', /^Late\.$/],
  ])('adds the cure of %s', (id, text) => expect(cure(id)).toMatch(text));
});
