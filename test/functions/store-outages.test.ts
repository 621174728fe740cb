import { afterEach, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { hourMs } from '../../lib/foundation/time.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import type { PurchaseRow } from '../../lib/purchases/purchase-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createUniqueName, startDate } from '../../testing/given.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import { recordObservation } from '../../testing/purchase-inputs.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
afterEach(() => service.clearFaults());

const unavailable = { ok: false, code: 6778002 };

const startOutage = async (platform: Platform) =>
  await service.callControl('/faults', { platform, fault: 'down', times: 100 });

const buy = async (order: object) => await service.callControl('/purchases', { type: 'paid subscription', ...order });

describe('POST /v1/validate while the store is unavailable', () => {
  it.each([
    ['store_b', 'premium'],
    ['processor_a', 'basic'],
    ['service_processor_a', 'basic'],
  ] as const)(
    'returns the last verified state of %s only for the product of the evidence',
    async (platform, productId) => {
      const keys = await service.createApp([platform]);
      const { validate } = await buy({ platform, productId, applicationUsername: createUniqueName('user') });
      const { body } = await service.validate(keys, validate);
      expect(body.ok).toBe(true);
      // Only a subscription id or a purchase token identifies a purchase without the store.
      const id = body.data.collection[0].purchaseId as string;
      const transaction = id.startsWith('sub_') ? { ...validate.transaction, id } : validate.transaction;
      await startOutage(platform);
      const validateId = async (requestedId: string) =>
        (await service.validate(keys, { ...validate, id: requestedId, transaction })).body;
      expect(await validateId(validate.id as string)).toMatchObject({
        ok: true,
        data: { warning: expect.any(String) },
      });
      expect(await validateId('gold_unlimited')).toMatchObject(unavailable);
    },
  );

  it.each([
    ['store_c', '9NBLGGH5W123'],
    ['processor_b', 'monthly'],
  ] as const)('does not return a purchase of %s for another product', async (platform, productId) => {
    const keys = await service.createApp([platform]);
    const { validate } = await buy({ platform, productId, applicationUsername: createUniqueName('user') });
    await service.validate(keys, validate);
    await startOutage(platform);
    expect((await service.validate(keys, { ...validate, id: 'gold_unlimited' })).body.ok).toBe(false);
  });
});

describe('POST /v1/validate while the App Store is unavailable', () => {
  const givenRenewed = async (form = 'signed') => {
    const keys = await service.createApp(['store_a']);
    const applicationUsername = createUniqueName('user');
    const productId = createUniqueName('plan');
    const { id, validate } = await buy({ platform: 'store_a', productId, applicationUsername, form });
    await service.callControl('/clock', { advance: 'P27D' });
    await service.callControl(`/purchases/${id}/renew`, {});
    await service.callControl('/clock', { advance: 'P10D' });
    return { keys, id, applicationUsername, productId, oldEvidence: validate };
  };

  it.each(['signed', 'product', 'receipt'])(
    'accepts old evidence of a stored renewed subscription (%s)',
    async (form) => {
      const { keys, id, productId, oldEvidence } = await givenRenewed(form);
      const { validate } = await service.callControl(`/purchases/${id}`);
      await service.validate(keys, validate);
      await startOutage('store_a');
      const { body } = await service.validate(keys, oldEvidence);
      expect(body).toMatchObject({ ok: true, data: { warning: expect.any(String) } });
      expect(body.data.collection).toMatchObject([{ id: productId, isExpired: false }]);
      expect(body.data.collection[0].expiryDate).toBeGreaterThan(Date.parse(body.data.date));
    },
  );

  it('does not accept old evidence of a subscription that is not stored', async () => {
    const { keys, oldEvidence } = await givenRenewed();
    await startOutage('store_a');
    expect((await service.validate(keys, oldEvidence)).body).toMatchObject(unavailable);
  });

  it('returns the stored purchases of the store account, without consumables', async () => {
    const { keys, id, applicationUsername, productId, oldEvidence } = await givenRenewed();
    for (const [name, type] of [
      ['hat', 'non consumable'],
      ['coins', 'consumable'],
    ]) {
      await buy({ platform: 'store_a', productId: name, type, applicationUsername });
    }
    const { validate } = await service.callControl(`/purchases/${id}`);
    await service.validate(keys, validate);
    await startOutage('store_a');
    const { body } = await service.validate(keys, oldEvidence);
    const products = body.data.collection.map((purchase: { id: string }) => purchase.id);
    expect(products.sort()).toEqual(['hat', productId].sort());
  });

  it('reads as much for a customer with many purchases as for one with few', async () => {
    const measure = async (count: number) => {
      const { keys, applicationUsername: username, oldEvidence } = await givenRenewed();
      await service.validate(keys, oldEvidence);
      for (let number = 0; number < count; number++) {
        const id = createUniqueName('store_a:coins');
        const bought = { purchaseId: id, transactionId: id, productId: 'store_a:coins', isConsumed: true };
        const fields = { ...bought, productType: 'consumable', purchaseDate: startDate + number } as const;
        await recordObservation(getService(), keys.appName, { username, observation: createObservation(fields) });
      }
      await startOutage('store_a');
      const before = getService().table.consumed.read;
      const { body } = await service.validate(keys, oldEvidence);
      expect(body.data.collection).toHaveLength(1);
      await service.clearFaults();
      return getService().table.consumed.read - before;
    };
    const [few, many] = [await measure(105), await measure(150)];
    expect(many).toBeLessThanOrEqual(few + 5);
  });

  it('does not accept the evidence of one product for another', async () => {
    const { keys, id } = await givenRenewed('product');
    const { validate } = await service.callControl(`/purchases/${id}?form=product`);
    await service.validate(keys, validate);
    await startOutage('store_a');
    expect((await service.validate(keys, { ...validate, id: 'gold_unlimited' })).body.ok).toBe(false);
  });
});

/** Google Play purchases are acknowledged, because the store refunds the others. */
const toReasons = (notifications: readonly { readonly reason: string }[]): string[] =>
  notifications.map(({ reason }) => reason).filter((reason) => reason !== 'ACKNOWLEDGED');

const renewing = [
  ['store_a', 'premium'],
  ['store_b', 'premium'],
  ['store_c', '9NBLGGH5W123'],
  ['processor_a', 'basic'],
  ['service_processor_a', 'basic'],
  ['processor_b', 'monthly'],
] as const;

describe('renewing subscription whose store is unavailable at its renewal', () => {
  it.each(sampleItems(renewing, 3))('gives access at %s for 24 hours, as not verified', async (platform, productId) => {
    const keys = await service.createApp([platform], platform === 'store_b' ? { acknowledge: true } : {});
    const { validate } = await buy({ platform, productId, autoRenew: true, applicationUsername: 'ann' });
    await service.validate(keys, validate);
    const readRow = async (): Promise<PurchaseRow> => {
      const { body } = await callWithSecretKey(listPurchases, keys, { query: { include_notifications: 'true' } });
      return body.rows[0];
    };
    const { purchaseId, expirationDate: renewalDate = '' } = await readRow();
    const refresh = async () => await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const setClock = async (hours: number) =>
      await service.callControl('/clock', { set: new Date(Date.parse(renewalDate) + hours * hourMs).toISOString() });
    // A refresh before the outage: the StoreID key of the Microsoft Store must be renewed.
    await setClock(-48);
    await refresh();
    const readAfter = async (hours: number) => {
      await setClock(hours);
      await startOutage(platform);
      const unchecked = await readRow();
      await refresh();
      const { notifications = [], ...row } = await readRow();
      // The date decides, not the refresh.
      expect(row).toEqual({ ...row, isExpired: unchecked.isExpired, unverifiedSince: unchecked.unverifiedSince });
      return { ...row, reasons: toReasons(notifications) };
    };
    const unverified = { isExpired: false, unverifiedSince: renewalDate };
    expect(await readAfter(1)).toMatchObject({ ...unverified, reasons: ['PURCHASED'] });
    const lastHour = await readAfter(23);
    expect(lastHour).toMatchObject({ ...unverified, reasons: ['PURCHASED'] });
    expect(Date.parse(lastHour.expirationDate ?? '')).toBe(Date.parse(renewalDate) + 24 * hourMs);
    expect(await readAfter(25)).toMatchObject({
      isExpired: true,
      expirationDate: renewalDate,
      unverifiedSince: renewalDate,
      reasons: ['PURCHASED', 'EXPIRED'],
    });
    await service.clearFaults();
    await refresh();
    const { notifications = [], ...renewed } = await readRow();
    expect(renewed).toMatchObject({ isExpired: false });
    expect(renewed).not.toHaveProperty('unverifiedSince');
    expect(toReasons(notifications)).toEqual(['PURCHASED', 'EXPIRED', 'RENEWED']);
  });
});

const notifying = [
  ['store_a', 'premium', {}],
  ['store_b', 'premium', {}],
  ['processor_a', 'basic', {}],
  ['processor_a', 'daily', { period: 'P1D' }],
  ['service_processor_a', 'basic', {}],
  ['processor_b', 'monthly', {}],
] as const;

describe('subscription that renews in an outage of 73 hours in which the notifications of its store arrive', () => {
  it.each(sampleItems(notifying, 2))(
    'gives access at every hour, and announces the renewal: %s (%s)',
    async (platform, productId, terms) => {
      const keys = await service.createApp([platform], platform === 'store_b' ? { acknowledge: true } : {});
      const router = await startNotificationRouter(service, [platform]);
      try {
        router.routeTo([keys.appName]);
        const applicationUsername = createUniqueName('user');
        const { validate } = await buy({ platform, productId, autoRenew: true, applicationUsername, ...terms });
        await service.validate(keys, validate);
        const readPurchase = async () => {
          const params = { applicationUsername };
          const { body } = await callWithSecretKey(getCustomerPurchases, keys, { params });
          const [purchase] = Object.values(body.purchases as Record<string, PurchaseRow>);
          if (!purchase) throw new Error('The customer does not have a purchase.');
          return purchase;
        };
        const processNotifications = async () => {
          await router.waitUntilPosted();
          await router.process(router.take(keys.appName));
        };
        await processNotifications();
        const { purchaseId, expirationDate = '' } = await readPurchase();
        const startAt = Date.parse(expirationDate) - hourMs;
        // The keys with which Google signs the pushes are at another service.
        const outage = platform === 'store_b' ? { path: '/androidpublisher/' } : {};
        const denials: number[] = [];
        const hours = Array.from({ length: 73 }, (_, index) => index + 1);
        await service.callControl('/clock', { set: new Date(startAt).toISOString() });
        await service.callControl('/faults', { ...outage, platform, fault: 'down', times: 10_000 });
        for (const hour of sampleItems(hours, 12, platform)) {
          await service.callControl('/clock', { set: new Date(startAt + hour * hourMs).toISOString() });
          await processNotifications();
          expect(await refreshPurchase(getService(), { appName: keys.appName, purchaseId })).toBe(false);
          if ((await readPurchase()).isExpired) denials.push(hour);
        }
        expect(denials).toEqual([]);
        await service.clearFaults();
        await processNotifications();
        await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
        expect(await readPurchase()).toMatchObject({ isExpired: false });
        const { body } = await callWithSecretKey(listPurchases, keys, { query: { include_notifications: 'true' } });
        const reasons = toReasons(body.rows[0].notifications);
        expect(reasons).toContain('RENEWED');
        expect(reasons).not.toContain('EXPIRED');
      } finally {
        await router.close();
        await service.setNotificationUrl(platform, null);
      }
    },
  );
});
