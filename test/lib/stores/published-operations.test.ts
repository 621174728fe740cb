import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deps } from '../../../composition/deps.ts';
import { diagnoseStoreSettings } from '../../../lib/health/diagnose-store-settings.ts';
import { refreshPurchase } from '../../../lib/refresh/refresh-purchase.ts';
import type { Platform } from '../../../lib/shared/platform.ts';
import {
  findRequestProblem,
  listAppStoreOperations,
  listGooglePlayOperations,
  listStripeOperations,
} from '../../../testing/published-operations.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';

interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

let service: TestService;
const sent: Sent[] = [];
const realFetch = globalThis.fetch;
beforeAll(async () => {
  service = await startTestService();
  globalThis.fetch = async (input, init) => {
    const [, host, path] = /^http:\/\/[^/]+\/([\w-]+(?:\.[\w-]+)+)(\/.*)$/.exec(String(input)) ?? [];
    const body = typeof init?.body === 'string' && init.body.startsWith('{') ? '' : String(init?.body ?? '');
    if (host !== undefined) sent.push({ method: init?.method ?? 'GET', url: new URL(`https://${host}${path}`), body });
    return await realFetch(input, init);
  };
});
afterAll(async () => {
  globalThis.fetch = realFetch;
  await service.close();
});

const stores = [
  ['store_a', listAppStoreOperations, /storekit/, ['renew', 'cancel', 'refund']],
  ['store_b', listGooglePlayOperations, /^androidpublisher\./, ['renew', 'cancel', 'revoke']],
  ['processor_a', listStripeOperations, /^api\.stripe\.com$/, ['renew', 'cancel', 'refund']],
] as const;

/** Sends the requests of a validation, refreshes, checks of the settings and searches for lost notifications. */
async function sendRequests(platform: Platform, actions: readonly string[]): Promise<void> {
  const settings = platform === 'store_b' ? { acknowledge: true } : {};
  const keys = await service.createApp([platform], settings);
  const order = { platform, productId: 'premium', type: 'paid subscription', applicationUsername: 'ann' };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body).toMatchObject({ ok: true });
  for (const action of actions) {
    await service.callControl(`/purchases/${encodeURIComponent(id)}/${action}`, {});
    await refreshPurchase({ appName: keys.appName, purchaseId: `${platform}:${id}` }, deps());
  }
  await diagnoseStoreSettings(keys.appName, platform, { recorder: { addExternalCall: () => {} }, deps: deps() });
}

describe('Requests to the stores', () => {
  it.each(stores)(
    'sends only operations of the published API to %s',
    async (platform, listOperations, host, actions) => {
      sent.length = 0;
      await sendRequests(platform, actions);
      const requests = sent.filter(({ url }) => host.test(url.host));
      expect(requests.length).toBeGreaterThan(3);
      const operations = listOperations();
      expect(operations.length).toBeGreaterThan(15);
      expect(requests.flatMap((request) => findRequestProblem(request, operations) ?? [])).toEqual([]);
    },
  );

  it('finds a wrong parameter or path', () => {
    const operations = listStripeOperations();
    const check = (path: string) =>
      findRequestProblem({ method: 'GET', url: new URL(`https://api.stripe.com${path}`), body: '' }, operations);
    expect(check('/v1/disputes?charge=ch_1&limit=10')).toBeUndefined();
    expect(check('/v1/disputes?customer=cus_1')).toMatch(/parameter customer/);
    expect(check('/v1/disputed')).toMatch(/not an operation/);
  });
});
