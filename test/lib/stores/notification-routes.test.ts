import { describe, expect, it } from '@jest/globals';
import { loadNotificationTest } from '../../../lib/stores/load-notification-test.ts';
import type { StoreContext, StoreResponse } from '../../../lib/stores/store-context.ts';
import { requiredEvents } from '../../../lib/stores/stripe/webhook-events.ts';
import { apiSettings, createContext, jsonResponse, textResponse } from '../../../testing/fake-apple.ts';
import { createGoogleContext } from './google-play/fake-google.ts';

const url = 'https://api.example.com/v3/webhook/store/app';

const test = async (platform: 'store_a' | 'store_b' | 'processor_a', context: StoreContext) =>
  await (await loadNotificationTest(platform))({ url, waitMs: 2_000 }, context);

/** Returns the outcomes of the steps and the codes of the problems. */
async function summarize(...input: Parameters<typeof test>) {
  const { steps, problems } = await test(...input);
  return { outcomes: steps.map(({ outcome }) => outcome), codes: problems.map(({ code }) => code) };
}

describe('testNotifications (App Store)', () => {
  /** Creates an App Store that responds to the request, and to each query of the status, in both environments. */
  const createAppStore = (requested: StoreResponse, ...statuses: readonly StoreResponse[]): StoreContext => {
    const next = { 'api.storekit.apple.com': 0, 'api.storekit-sandbox.apple.com': 0 };
    return createContext({
      settings: apiSettings,
      fetch: async (address, init) => {
        const { host, pathname } = new URL(address);
        if (init?.method === 'POST') return requested;
        expect(pathname).toBe('/inApps/v1/notifications/test/token-1');
        const status = statuses[next[host as keyof typeof next]++];
        return status ?? jsonResponse(404, { errorCode: 4040008 });
      },
    });
  };
  const accepted = jsonResponse(200, { testNotificationToken: 'token-1' });
  const attempted = (sendAttemptResult: string) => jsonResponse(200, { sendAttempts: [{ sendAttemptResult }] });

  it('waits for the attempt of each environment', async () => {
    const context = createAppStore(accepted, jsonResponse(404, { errorCode: 4040008 }), attempted('SUCCESS'));
    expect(await test('store_a', context)).toMatchObject({ numDelivered: 2, problems: [] });
  });

  it.each([
    ['an attempt that failed', [accepted, attempted('TLS_ISSUE')], 'TLS_ISSUE', ['test-failed', 'test-failed']],
    ['a missing URL', [jsonResponse(404, { errorCode: 4040007 })], 'no notification URL', ['url-missing']],
    ['a rejected key', [textResponse(401, 'Unauthenticated')], 'the API key is rejected', []],
    ['an exceeded rate limit', [accepted, textResponse(429, ''), attempted('SUCCESS')], 'SUCCESS', []],
    ['no attempt in time', [accepted], 'requested, not attempted in time', []],
  ] as const)('reports %s', async (_name, [requested, ...statuses], outcome, codes) => {
    expect(await summarize('store_a', createAppStore(requested, ...statuses))).toEqual({
      outcomes: [outcome, outcome],
      codes,
    });
  });

  it('sends nothing without an API key', async () => {
    const context = createContext({ settings: { bundleId: apiSettings.bundleId } });
    expect(await summarize('store_a', context)).toMatchObject({ codes: [] });
  });
});

describe('testNotifications (Google Play)', () => {
  const oidcToken = { audience: 'claimcheck', serviceAccountEmail: 'push@example.iam.gserviceaccount.com' };
  const subscription = {
    name: 'projects/example/subscriptions/play',
    topic: 'projects/example/topics/play',
    pushConfig: { pushEndpoint: url, oidcToken },
    state: 'ACTIVE',
  };

  const createContextOf = (status: number, body: object): StoreContext => {
    const { fetch, settings, ...context } = createGoogleContext({});
    return {
      ...context,
      settings: Object.assign(
        { pushAudience: 'claimcheck', pushServiceAccount: oidcToken.serviceAccountEmail },
        settings,
      ),
      fetch: async (...call) => {
        if (!call[0].startsWith('https://pubsub.googleapis.com/')) return await fetch(...call);
        expect(call[0]).toBe('https://pubsub.googleapis.com/v1/projects/example/subscriptions?pageSize=1000');
        return jsonResponse(status, body);
      },
    };
  };

  it.each([
    ['an active subscription', {}, 'ACTIVE, topic projects/example/topics/play', []],
    [
      'a subscription that expires',
      { expirationPolicy: { ttl: '2678400s' } },
      'ACTIVE, topic projects/example/topics/play, deleted after 2678400s without activity',
      [],
    ],
    ['an error of the endpoint', { state: 'RESOURCE_ERROR' }, /^RESOURCE_ERROR/, ['endpoint-disabled']],
    ['a deleted topic', { topic: '_deleted-topic_' }, /_deleted-topic_/, ['endpoint-disabled']],
    ['a detached subscription', { detached: true }, /^ACTIVE/, ['endpoint-disabled']],
    ['a push without a token', { pushConfig: { pushEndpoint: url } }, /^ACTIVE/, ['endpoint-incomplete']],
    [
      'a token for a different audience',
      { pushConfig: { pushEndpoint: url, oidcToken: { ...oidcToken, audience: 'other' } } },
      /^ACTIVE/,
      ['endpoint-incomplete'],
    ],
    [
      'a subscription of a different URL',
      { pushConfig: { pushEndpoint: 'https://example.com' } },
      'no subscription pushes to the URL in the project example',
      [],
    ],
  ] as const)('reports %s', async (_name, changes, outcome, codes) => {
    const context = createContextOf(200, { subscriptions: [{ ...subscription, ...changes }] });
    const summary = await summarize('store_b', context);
    expect(summary.codes).toEqual(codes);
    expect(summary.outcomes[0]).toEqual(outcome instanceof RegExp ? expect.stringMatching(outcome) : outcome);
  });

  it('names the missing role', async () => {
    const { outcomes, codes } = await summarize('store_b', createContextOf(403, {}));
    expect(outcomes).toEqual([expect.stringContaining('lacks the role Pub/Sub Viewer in the project example')]);
    expect(codes).toEqual([]);
  });
});

describe('testNotifications (Stripe)', () => {
  const endpoint = { object: 'webhook_endpoint', url, status: 'enabled', api_version: '2026-10-28.endive' };

  const createContextOf = (status: number, body: object): StoreContext => ({
    ...createGoogleContext({}),
    settings: { secretKey: 'sk_test_of_the_account' },
    fetch: async () => jsonResponse(status, body),
  });

  it.each([
    ['all events', { enabled_events: ['*'] }, 'enabled, API version 2026-10-28.endive, all events', []],
    ['the required events', { enabled_events: requiredEvents }, /26 events$/, []],
    ['missing events', { enabled_events: ['invoice.paid'] }, /1 events$/, ['endpoint-incomplete']],
    ['a disabled endpoint', { status: 'disabled', enabled_events: ['*'] }, /^disabled/, ['endpoint-disabled']],
    ['a different URL', { url: 'https://example.com' }, 'not among the 1 endpoints of the account', ['elsewhere']],
  ] as const)('reports %s', async (_name, changes, outcome, codes) => {
    const data = [{ ...endpoint, ...changes }];
    const summary = await summarize('processor_a', createContextOf(200, { object: 'list', data }));
    expect(summary.codes).toEqual(codes);
    expect(summary.outcomes[0]).toEqual(outcome instanceof RegExp ? expect.stringMatching(outcome) : outcome);
  });

  it('names the missing permission', async () => {
    const error = { type: 'invalid_request_error', message: "Having the 'rak_webhook_read' permission would allow." };
    expect(await summarize('processor_a', createContextOf(403, { error }))).toEqual({
      outcomes: ['not readable: the key lacks the permission to read Webhook Endpoints'],
      codes: [],
    });
  });
});
