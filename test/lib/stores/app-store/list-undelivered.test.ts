import { describe, expect, it, jest } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import type { StoreContext, StoreFetch } from '../../../../lib/stores/store-context.ts';
import { purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { signJws } from '../../../../testing/apple-signatures.ts';
import { applePki, createContext, failFetch, jsonResponse, textResponse } from '../../../../testing/fake-apple.ts';
import { appReference, buildDelivery, buildPayload, receive, signatureOnly } from './notification-fixture.ts';

const now = purchaseDate + 400 * dayMs;
const toHistoryItem = (payload: object) => ({ signedPayload: signJws(payload, applePki), sendAttempts: [] });
const unauthenticated = textResponse(401, 'Unauthenticated');

interface Call {
  readonly host: string;
  readonly token: string | null;
  readonly body: { startDate: number; endDate: number; onlyFailures: boolean };
}

/** Creates an App Store with pages of failed notifications in production. The page tokens are `1`, `2` and so on. */
function createHistory(pages: readonly (readonly object[])[], sandbox = jsonResponse(200, { hasMore: false })) {
  const calls: Call[] = [];
  const fetch: StoreFetch = async (url, init) => {
    const { host, pathname, searchParams } = new URL(url);
    const token = searchParams.get('paginationToken');
    expect([pathname, init?.method]).toEqual(['/inApps/v1/notifications/history', 'POST']);
    calls.push({ host, token, body: JSON.parse(init?.body ?? '') });
    if (host === 'api.storekit-sandbox.apple.com') return sandbox;
    const page = Number(token ?? 0);
    const hasMore = page + 1 < pages.length;
    return jsonResponse(200, {
      notificationHistory: pages[page],
      hasMore,
      ...(hasMore && { paginationToken: `${page + 1}` }),
    });
  };
  return { fetch, calls };
}

const listUndelivered = async (since: number, changes: Partial<StoreContext>) =>
  await appStore.listUndelivered?.(since, createContext({ now: () => now, ...changes }));

describe('listUndelivered (App Store)', () => {
  it('returns the notifications of all pages in the same form as receive', async () => {
    const payloads = ['DID_RENEW', 'TEST', 'REFUND'].map((type) => buildPayload(type));
    const { fetch, calls } = createHistory(payloads.map((payload) => [toHistoryItem(payload)]));
    const delivered = await Promise.all(payloads.map((payload) => receive(buildDelivery(payload))));
    expect(await listUndelivered(now - dayMs, { fetch })).toEqual(delivered.flat());
    expect(calls.map(({ host, token }) => `${host} ${token}`)).toEqual([
      'api.storekit.apple.com null',
      'api.storekit.apple.com 1',
      'api.storekit.apple.com 2',
      'api.storekit-sandbox.apple.com null',
    ]);
    expect(calls[2]?.body).toEqual({ startDate: now - dayMs, endDate: now, onlyFailures: true });
  });

  it("limits the start date to Apple's retention", async () => {
    const { fetch, calls } = createHistory([[]]);
    await listUndelivered(purchaseDate, { fetch });
    const [production, sandbox] = calls.map(({ body }) => (now - body.startDate) / dayMs);
    expect(production).toBeCloseTo(180, 0);
    expect(sandbox).toBeCloseTo(30, 0);
  });

  it('skips invalid notifications and logs a warning for each', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
    const invalid = [
      { signedPayload: 'garbage' },
      { signedPayload: signJws(buildPayload('TEST'), createPki()) },
      toHistoryItem(buildPayload('TEST', { data: { ...appReference, bundleId: 'com.example.other' } })),
    ];
    const { fetch } = createHistory([[...invalid, toHistoryItem(buildPayload('TEST'))]]);
    expect(await listUndelivered(now - dayMs, { fetch })).toMatchObject([{ type: 'TEST' }]);
    expect(warn).toHaveBeenCalledTimes(invalid.length);
    warn.mockRestore();
  });

  it('stops if a pagination token repeats', async () => {
    const fetch: StoreFetch = async () =>
      jsonResponse(200, {
        notificationHistory: [toHistoryItem(buildPayload('TEST'))],
        hasMore: true,
        paginationToken: 'same',
      });
    expect(await listUndelivered(now - dayMs, { fetch })).toHaveLength(4);
  });

  it('returns the sandbox notifications of an app that has not been released', async () => {
    const sandbox = jsonResponse(200, { notificationHistory: [toHistoryItem(buildPayload('TEST'))], hasMore: false });
    const { fetch: fetchHistory } = createHistory([], sandbox);
    const fetch: StoreFetch = async (url, init) =>
      url.includes('sandbox') ? await fetchHistory(url, init) : unauthenticated;
    expect(await listUndelivered(now - dayMs, { fetch })).toHaveLength(1);
  });

  it('returns nothing without an API key', async () => {
    expect(await listUndelivered(now - dayMs, { ...signatureOnly, fetch: failFetch })).toEqual([]);
  });

  it.each<[string, string, StoreFetch]>([
    ['ConnectionFailed', 'the App Store is unavailable', failFetch],
    [
      'ConnectionFailed',
      'a later page fails',
      async (url, init) =>
        url.includes('=1') ? textResponse(500, '') : await createHistory([[], []]).fetch(url, init),
    ],
    ['ConnectionFailed', 'the response is HTML', async () => textResponse(200, '<html>')],
    ['InternalError', 'both environments reject the API key', async () => unauthenticated],
  ])('throws %s if %s', async (code, _title, fetch) => {
    await expect(listUndelivered(now - dayMs, { fetch })).rejects.toMatchObject({ code });
  });
});
