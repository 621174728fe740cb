import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ErrorCode, errorCodes } from '../../../lib/foundation/errors.ts';
import { startHttpServer } from '../../../local/http-server.ts';
import type { LocalService } from '../../../local/start-local.ts';
import { createEmulatorClient } from '../../../testing/emulator-client.ts';
import type { PlayBody, PlayPage } from '../../../testing/google-play-device.ts';
import { startPlugin11, verifyAgain, verifyWithPlugin13 } from '../../../testing/play-plugins.ts';
import { checkSample } from '../../../testing/sample.ts';
import { waitFor } from '../../../testing/wait-for.ts';

let page: PlayPage | undefined;

const codes = Object.entries(errorCodes).map(([code, { number, status }]) => ({
  code: code as ErrorCode,
  number,
  status,
}));

type Candidate = (typeof codes)[number];

/** Number of codes in a sample. */
const sampleSize = 3;

/** A validator that responds with a code to each request until `isPaid`, then with the paid purchase. */
async function startValidator({ number: code, status }: Candidate) {
  const validator = { isPaid: false };
  const message = 'The payment is pending. Validate again when it is paid.';
  const pending = { ok: false, status, code, message, data: { code, error: { message } } };
  const paid = {
    ok: true,
    data: {
      id: 'premium',
      latest_receipt: true,
      transaction: { type: 'android-playstore' },
      collection: [{ id: 'premium', isExpired: false, purchaseDate: 1, expiryDate: Date.now() + 86_400_000 }],
      ineligible_for_intro_price: [],
      date: new Date().toISOString(),
    },
  };
  const server = await startHttpServer(async (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'accept, content-type',
    });
    response.end(JSON.stringify(validator.isPaid ? paid : pending));
  });
  return Object.assign(validator, server);
}

/** A purchase on the device. The Play Store calls it purchased, so the plugins validate it. */
const body: PlayBody = {
  id: 'premium',
  transaction: {
    id: 'GPA.1',
    signature: 'signature',
    receipt: JSON.stringify({
      orderId: 'GPA.1',
      packageName: 'com.example.app',
      productId: 'premium',
      purchaseTime: 1,
      purchaseState: 0,
      purchaseToken: 'token',
      quantity: 1,
      autoRenewing: true,
      acknowledged: false,
    }),
  },
};

/** Codes for which version 11 drops the purchase. */
const droppingCodes: readonly ErrorCode[] = ['PurchaseExpired'];

/** The code with which the service responds. */
const pendingCode: ErrorCode = 'NeedMoreData';

/** Registers the tests of this file, which share a service with the other clients. */
export function describePendingPayments(getService: () => LocalService): void {
  afterEach(() => page?.close());

  describe('cordova-plugin-purchase with any error code', () => {
    it('keeps the purchase in version 13 without owning it', async () => {
      await checkSample(codes, sampleSize, keepPurchaseIn13);
    });

    it('owns the purchase in version 11 without a restart if it is not dropped', async () => {
      await checkSample(codes, sampleSize, ownPurchaseIn11);
    });

    it.each(codes.filter(({ code }) => [...droppingCodes, pendingCode].includes(code)))(
      'owns the purchase of $code in version 13, and in version 11 unless that drops it',
      async (candidate) => {
        await keepPurchaseIn13(candidate);
        await ownPurchaseIn11(candidate);
      },
    );

    async function keepPurchaseIn13(candidate: Candidate): Promise<void> {
      const validator = await startValidator(candidate);
      const verification = await verifyWithPlugin13(body, validator.url);
      page = verification.page;
      const { store, event } = verification;
      expect([event, store.owned('premium')]).toEqual(['unverified', false]);
      expect(store.localTransactions).toMatchObject([{ state: 'approved', products: [{ id: 'premium' }] }]);
      expect(verification.page.acknowledgements).toEqual([]);
      validator.isPaid = true;
      await verifyAgain(verification);
      expect(store.owned('premium')).toBe(true);
      verification.page.close();
      await validator.close();
    }

    async function ownPurchaseIn11(candidate: Candidate): Promise<void> {
      const validator = await startValidator(candidate);
      const plugin = await startPlugin11(body, validator.url);
      page = plugin.page;
      await waitFor('a response', () => plugin.responses.length > 0);
      expect(plugin.product.owned).toBe(false);
      expect(plugin.page.acknowledgements).toEqual([]);
      validator.isPaid = true;
      const lastEvent = droppingCodes.includes(candidate.code) ? 'expired' : 'owned';
      await waitFor(
        `the event ${lastEvent}`,
        () => plugin.events,
        (events) => events.at(-1) === lastEvent,
      );
      expect(plugin.product.state).toBe(lastEvent === 'owned' ? 'owned' : 'valid');
      plugin.page.close();
      await validator.close();
    }
  });

  describe('cordova-plugin-purchase with the service and a pending payment', () => {
    let service: LocalService;
    let owner: ReturnType<typeof createEmulatorClient>;
    beforeAll(async () => {
      service = getService();
      owner = createEmulatorClient(service.emulatorUrl);
    });

    const getValidator = () => `${service.baseUrl}/v1/validate?appName=${service.appName}&apiKey=${service.publicKey}`;
    const buyPending = async () =>
      await owner.buy<PlayBody>({ platform: 'store_b', applicationUsername: randomUUID(), pending: true });

    it('owns the subscription in version 13 when it is paid, and acknowledges it only then', async () => {
      const { id, validate } = await buyPending();
      const verification = await verifyWithPlugin13(validate, getValidator());
      page = verification.page;
      expect(verification).toMatchObject({ event: 'unverified', payload: { ok: false, code: 6778006 } });
      expect(verification.store.owned('premium')).toBe(false);
      expect(verification.page.acknowledgements).toEqual([]);
      await owner.act(id, 'pay');
      await verifyAgain(verification);
      expect(verification.store.owned('premium')).toBe(true);
      await verification.finished;
      expect(verification.page.acknowledgements).toHaveLength(1);
    });

    it('owns the subscription in version 11 when it is paid, and acknowledges it only then', async () => {
      const { id, validate } = await buyPending();
      const plugin = await startPlugin11(validate, getValidator());
      page = plugin.page;
      await waitFor('a response', () => plugin.responses.length > 0);
      expect(plugin.responses[0]).toMatchObject({ ok: false, code: 6778006 });
      expect([plugin.product.owned, plugin.page.acknowledgements]).toEqual([false, []]);
      await owner.act(id, 'pay');
      await waitFor(
        'the event owned',
        () => plugin.events,
        (events) => events.includes('owned'),
      );
      expect(plugin.product.owned).toBe(true);
      expect(plugin.page.acknowledgements).toHaveLength(1);
    });
  });
}
