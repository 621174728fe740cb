import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalService } from '../../../local/start-local.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import type { PlayBody, PlayPage } from '../../../testing/google-play-device.ts';
import { verifyAgain, verifyWithPlugin13 } from '../../../testing/play-plugins.ts';

let service: LocalService;
let owner: ReturnType<typeof createEmulatorClient>;
let page: PlayPage | undefined;

/** Verifies the purchase on the device with the service. */
async function verify(body: PlayBody) {
  page?.close();
  const verification = await verifyWithPlugin13(
    body,
    `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`,
  );
  page = verification.page;
  return verification;
}

// A new user for each purchase: the store sells a subscription only once to the same user.
const buySubscription = async () =>
  await owner.buy<PlayBody>({ platform: 'store_b', applicationUsername: randomUUID() });

/** Registers the tests of this file, which share a service with the other clients. */
export function describeGooglePlay13(getService: () => LocalService): void {
  beforeAll(async () => {
    service = getService();
    owner = createEmulatorClient(service.emulatorUrl);
  });
  afterEach(async () => {
    page?.close();
    await owner.clearFaults();
  });

  describe('cordova-plugin-purchase 13.18 with Google Play', () => {
    it('owns a subscription until its expiration date', async () => {
      const { validate, expiryTime } = await buySubscription();
      const { event, store } = await verify(validate);
      expect(event).toBe('verified');
      expect(store.owned('premium')).toBe(true);
      const [receipt] = store.verifiedReceipts;
      expect(receipt.id).toBe('premium');
      expect(receipt.collection).toMatchObject([
        { id: 'premium', isExpired: false, renewalIntent: 'Renew', expiryDate: Date.parse(expiryTime) },
      ]);
    });

    it('acknowledges an unacknowledged purchase on the device', async () => {
      const { validate } = await buySubscription();
      const { store, finished } = await verify(validate);
      expect(await finished).toMatchObject({ state: 'finished' });
      const { purchaseToken } = JSON.parse(validate.transaction.receipt);
      expect(store.verifiedReceipts[0].collection).toMatchObject([{ isAcknowledged: false }]);
      expect(page?.acknowledgements).toEqual([[purchaseToken]]);
    });

    it('does not own an expired subscription', async () => {
      const { id, validate } = await buySubscription();
      await owner.act(id, 'expire');
      const { event, payload, store } = await verify(validate);
      expect(event).toBe('unverified');
      expect(payload).toMatchObject({ ok: false, code: 6778003 });
      expect(store.owned('premium')).toBe(false);
    });

    it('does not own a subscription after it has expired while the app runs', async () => {
      const { id, validate } = await buySubscription();
      const verification = await verify(validate);
      const { store } = verification;
      expect(store.owned('premium')).toBe(true);
      await owner.act(id, 'expire');
      await verifyAgain(verification);
      expect(store.verifiedReceipts[0].collection).toMatchObject([{ id: 'premium', isExpired: true }]);
      expect(store.owned('premium')).toBe(false);
    });

    it('does not own an unverified subscription if the store is unavailable', async () => {
      const { validate } = await buySubscription();
      await owner.breakStore('store_b');
      const { event, payload, store } = await verify(validate);
      expect(event).toBe('unverified');
      expect(payload).toMatchObject({ ok: false, code: 6778002 });
      expect(store.owned('premium')).toBe(false);
      expect(page?.crashes).toEqual([]);
    });

    it('owns a verified subscription while the store is unavailable', async () => {
      const { validate } = await buySubscription();
      await verify(validate);
      await owner.breakStore('store_b');
      const { event, store } = await verify(validate);
      expect(event).toBe('verified');
      expect(store.verifiedReceipts[0].warning).toEqual(expect.any(String));
      expect(store.owned('premium')).toBe(true);
      expect(page?.crashes).toEqual([]);
    });

    it('does not own a subscription whose receipt does not match its signature', async () => {
      const { validate } = await buySubscription();
      const receipt = validate.transaction.receipt.replace('"quantity":1', '"quantity":2');
      const { event, payload, store } = await verify({
        ...validate,
        transaction: { ...validate.transaction, receipt },
      });
      expect(event).toBe('unverified');
      expect(payload).toMatchObject({ ok: false, code: 6778001 });
      expect(store.owned('premium')).toBe(false);
    });
  });
}
