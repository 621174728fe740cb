import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setStoreSettings } from '../../lib/apps/app-table.ts';
import { getService } from '../../lib/foundation/container.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const products: readonly (readonly [Platform, string])[] = [
  ['store_a', 'premium'],
  ['store_b', 'premium'],
  ['store_c', '9NBLGGH5W123'],
  ['processor_a', 'premium'],
  ['processor_b', 'monthly'],
];

/** Buys a product and returns the request body of a client that validates it. */
async function buy(platform: Platform, productId: string): Promise<object> {
  const order = { platform, productId, type: 'paid subscription' };
  return (await service.callControl('/purchases', order)).validate;
}

describe('POST /v1/validate', () => {
  it.each(products)('returns InternalError if the app has no settings of %s', async (platform, productId) => {
    const keys = await service.createApp([]);
    const { body } = await service.validate(keys, await buy(platform, productId));
    expect(body).toMatchObject({ ok: false, code: 6778005, message: `The app has no ${platform} settings.` });
  });

  it.each(products)('returns InternalError if the settings of %s are not valid', async (platform, productId) => {
    const keys = await service.createApp([]);
    await setStoreSettings(getService(), keys.appName, platform, { bundleId: 7 });
    const { body } = await service.validate(keys, await buy(platform, productId));
    expect(body).toMatchObject({
      ok: false,
      code: 6778005,
      message: `The ${platform} settings of the app are not valid.`,
    });
  });
});
