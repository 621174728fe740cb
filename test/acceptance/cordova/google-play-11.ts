import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import type { PlayBody, PlayPage } from '../../../testing/google-play-device.ts';
import { type ProductEvent, startPlugin11 } from '../../../testing/play-plugins.ts';
import { waitFor } from '../../../testing/wait-for.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: PlayPage | undefined;

/** Starts the plugin in a page with the service as its validator. */
async function startPlugin(body: PlayBody) {
  page?.close();
  const plugin = await startPlugin11(
    body,
    `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`,
  );
  page = plugin.page;
  return plugin;
}

/** Waits for an event of the product. Throws an error with the other events if it is missing. */
const waitForEvent = async (event: ProductEvent, events: readonly ProductEvent[]) =>
  await waitFor(
    `the event ${event}`,
    () => events,
    () => events.includes(event),
  );

// A new user for each purchase: the store sells a subscription only once to the same user.
const buySubscription = async () =>
  await owner.buy<PlayBody>({ platform: 'store_b', applicationUsername: randomUUID() });

/** Registers the tests of this file, which share a service with the other clients. */
export function describeGooglePlay11(getService: () => LocalService): void {
  beforeAll(async () => {
    service = getService();
    owner = createEmulatorClient(service.emulatorUrl);
  });
  afterEach(async () => {
    page?.close();
    await owner.clearFaults();
  });

  describe('cordova-plugin-purchase 11.0 with Google Play', () => {
    it('owns a subscription after it is verified, and acknowledges it on the device', async () => {
      const { validate, expiryTime } = await buySubscription();
      const { product, events } = await startPlugin(validate);
      await waitForEvent('owned', events);
      expect(events).toEqual(['verified', 'owned']);
      expect(product).toMatchObject({ owned: true, isExpired: false, renewalIntent: 'Renew' });
      expect(product.expiryDate.getTime()).toBe(Date.parse(expiryTime));
      expect(page?.acknowledgements).toEqual([['premium', validate.transaction.id, expect.any(String)]]);
    });

    it('reports an expired subscription and does not own it', async () => {
      const { id, validate } = await buySubscription();
      await owner.act(id, 'expire');
      const { product, events } = await startPlugin(validate);
      await waitForEvent('expired', events);
      expect(events).toEqual(['expired']);
      expect(product).toMatchObject({ owned: false, expired: true });
    });

    it('reports an unverified subscription after five attempts if the store is unavailable', async () => {
      const { validate } = await buySubscription();
      await owner.breakStore('store_b');
      const { product, events, responses } = await startPlugin(validate);
      await waitForEvent('unverified', events);
      expect(events).toEqual(['unverified']);
      expect(responses.map(({ code }) => code)).toEqual(Array(5).fill(6778002));
      expect(product.owned).toBe(false);
      expect(page?.crashes).toEqual([]);
    });

    it('verifies a subscription without a restart when the store is available again', async () => {
      const { validate } = await buySubscription();
      await owner.breakStore('store_b');
      const { product, events, responses } = await startPlugin(validate);
      await waitFor('a response', () => responses.length > 0);
      expect(responses[0]).toMatchObject({ ok: false, code: 6778002 });
      await owner.clearFaults();
      await waitForEvent('owned', events);
      expect(product.owned).toBe(true);
    });

    it('owns a verified subscription while the store is unavailable', async () => {
      const { validate } = await buySubscription();
      await waitForEvent('owned', (await startPlugin(validate)).events);
      await owner.breakStore('store_b');
      const { product, events } = await startPlugin(validate);
      await waitForEvent('owned', events);
      expect(product).toMatchObject({ owned: true, isExpired: false });
      expect(page?.crashes).toEqual([]);
    });
  });
}
