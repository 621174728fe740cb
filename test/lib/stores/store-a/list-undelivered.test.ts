import { describe, expect, it } from '@jest/globals';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import type { StoreContext, StoreFetch } from '../../../../lib/stores/store-context.ts';
import { dayMs, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { signJws } from '../../../../testing/apple-signatures.ts';
import { applePki, createContext, failFetch, jsonResponse, textResponse } from '../../../../testing/fake-apple.ts';
import { about, payloadOf, received, sent, signatureOnly } from './notification-fixture.ts';

const now = purchaseDate + 400 * dayMs;
const signed = (payload: object) => ({ signedPayload: signJws(payload, applePki), sendAttempts: [] });
const unauthenticated = textResponse(401, 'Unauthenticated');

interface Call {
  readonly host: string;
  readonly token: string | null;
  readonly body: { startDate: number; endDate: number; onlyFailures: boolean };
}

/** An Apple with pages of failed notifications, under tokens `1`, `2` and so on, and the questions that it got. */
function failures(pages: readonly (readonly object[])[], sandbox = jsonResponse(200, { hasMore: false })) {
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

const missed = async (since: number, changes: Partial<StoreContext>) =>
  await storeA.listUndelivered?.(since, createContext({ now: () => now, ...changes }));

describe('what Apple failed to deliver', () => {
  it('is read from every page, as deliveries would have brought it', async () => {
    const payloads = ['DID_RENEW', 'TEST', 'REFUND'].map((type) => payloadOf(type));
    const { fetch, calls } = failures(payloads.map((payload) => [signed(payload)]));
    const delivered = await Promise.all(payloads.map((payload) => received(sent(payload))));
    expect(await missed(now - dayMs, { fetch })).toEqual(delivered.flat());
    expect(calls.map(({ host, token }) => `${host} ${token}`)).toEqual([
      'api.storekit.apple.com null',
      'api.storekit.apple.com 1',
      'api.storekit.apple.com 2',
      'api.storekit-sandbox.apple.com null',
    ]);
    expect(calls[2]?.body).toEqual({ startDate: now - dayMs, endDate: now, onlyFailures: true });
  });

  it('is asked for only as long as Apple remembers it', async () => {
    const { fetch, calls } = failures([[]]);
    await missed(purchaseDate, { fetch });
    const [production, sandbox] = calls.map(({ body }) => (now - body.startDate) / dayMs);
    expect(production).toBeCloseTo(180, 0);
    expect(sandbox).toBeCloseTo(30, 0);
  });

  it('leaves out what would not have been understood, and nothing else', async () => {
    const odd = [
      { signedPayload: 'garbage' },
      { signedPayload: signJws(payloadOf('TEST'), createPki()) },
      signed(payloadOf('TEST', { data: { ...about, bundleId: 'com.example.other' } })),
    ];
    const { fetch } = failures([[...odd, signed(payloadOf('TEST'))]]);
    expect(await missed(now - dayMs, { fetch })).toMatchObject([{ type: 'TEST' }]);
  });

  it('ends where a page leads back to itself', async () => {
    const fetch: StoreFetch = async () =>
      jsonResponse(200, { notificationHistory: [signed(payloadOf('TEST'))], hasMore: true, paginationToken: 'same' });
    expect(await missed(now - dayMs, { fetch })).toHaveLength(4);
  });

  it('is what the sandbox has while the application was never released', async () => {
    const sandbox = jsonResponse(200, { notificationHistory: [signed(payloadOf('TEST'))], hasMore: false });
    const { fetch: usual } = failures([], sandbox);
    const fetch: StoreFetch = async (url, init) => (url.includes('sandbox') ? await usual(url, init) : unauthenticated);
    expect(await missed(now - dayMs, { fetch })).toHaveLength(1);
  });

  it('is nothing without an API key', async () => {
    expect(await missed(now - dayMs, { ...signatureOnly, fetch: failFetch })).toEqual([]);
  });

  it.each<[string, StoreFetch, string]>([
    ['Apple cannot be reached', failFetch, 'ConnectionFailed'],
    [
      'a page fails',
      async (url, init) => (url.includes('=1') ? textResponse(500, '') : await failures([[], []]).fetch(url, init)),
      'ConnectionFailed',
    ],
    ['Apple talks nonsense', async () => textResponse(200, '<html>'), 'ConnectionFailed'],
    ['both environments refuse the key', async () => unauthenticated, 'InternalError'],
  ])('is not taken for nothing when %s', async (_what, fetch, code) => {
    await expect(missed(now - dayMs, { fetch })).rejects.toMatchObject({ code });
  });
});
