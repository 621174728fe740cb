import { describe, expect, it } from '@jest/globals';
import type { ProductType } from '../../lib/api/schemas.ts';
import { storeCatalogue } from '../../lib/apps/catalogue-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs, hourMs, minuteMs } from '../../lib/foundation/time.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { findPurchaseFacts } from '../../lib/purchases/purchase-table.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startNotificationFixture } from './notification-fixture.ts';

const service = startBeforeAll(startNotificationFixture);
const keys = startBeforeAll(async () => await service.createNotifiedApp('store_b', { acknowledge: true }));

/** Buys a product of Google Play that the app's settings let the service consume or acknowledge. */
async function buy(type: string) {
  const order = {
    platform: 'store_b',
    type,
    productId: createUniqueName('product'),
    applicationUsername: createUniqueName('user'),
  };
  const { id, validate: body } = await service.callControl('/purchases', order);
  const validate = async (changes: object = {}) => (await service.validate(keys, { ...body, ...changes })).body;
  const setCatalogueType = async (catalogueType: ProductType) => {
    await storeCatalogue(getService(), keys.appName, { [order.productId]: { type: catalogueType } });
    // The service caches the catalogue.
    await advance(minuteMs);
  };
  const findAtStore = async () => await service.callControl(`/purchases/${id}`);
  const fetchRecord = async () =>
    (await callWithSecretKey(getPurchase, keys, { params: { purchaseId: `store_b:${id}` } })).body;
  const ids = { appName: keys.appName, purchaseId: `store_b:${id}` };
  return {
    validate,
    setCatalogueType,
    findAtStore,
    fetchRecord,
    receive: async () => await service.processNotifications(),
    refresh: async () => await refreshPurchase(getService(), ids),
    findNextRefresh: async () =>
      (await findPurchaseFacts(getService(), ids.appName, ids.purchaseId))?.nextRefreshAt ?? Infinity,
  };
}

const advance = async (ms: number) =>
  await service.callControl('/clock', { set: new Date(Date.now() + ms).toISOString() });

describe('POST /v1/validate (Google Play) with acknowledge: true', () => {
  const unfulfilled = { isAcknowledged: false, isConsumed: false };
  const leftToClient = { ok: true, data: { transaction: { acknowledgementState: 0 }, collection: [unfulfilled] } };

  it('does not consume a product that was stored with a different type', async () => {
    const { validate, findAtStore, fetchRecord } = await buy('non consumable');
    expect(await validate()).toMatchObject({ ok: true, data: { collection: [{ isAcknowledged: true }] } });
    expect(await validate({ type: 'consumable' })).toMatchObject({ ok: true });
    expect(await findAtStore()).toMatchObject({ isAcknowledged: true, isConsumed: false });
    expect(await fetchRecord()).toMatchObject({ isConsumed: false });
  });

  it('leaves a consumable that the catalogue lacks to the client until two days later', async () => {
    const { validate, findAtStore, fetchRecord, refresh } = await buy('consumable');
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await validate()).toMatchObject(leftToClient);
      await refresh();
    }
    expect(await findAtStore()).toMatchObject(unfulfilled);
    await advance(2 * dayMs + hourMs);
    expect(await validate()).toMatchObject(leftToClient);
    await refresh();
    expect(await findAtStore()).toMatchObject({ isAcknowledged: true, isConsumed: false });
    expect(await fetchRecord()).toMatchObject({ isAcknowledged: true, isConsumed: false });
  });

  it('refreshes a consumable of the client again at least every six hours', async () => {
    const { validate, refresh, findNextRefresh } = await buy('consumable');
    await validate();
    await advance(dayMs);
    await refresh();
    expect((await findNextRefresh()) - Date.now()).toBeLessThanOrEqual(6 * hourMs);
  });

  it('leaves a purchase to the client if a notification reports it before the client', async () => {
    const { receive, validate, findAtStore, setCatalogueType } = await buy('consumable');
    await receive();
    expect(await findAtStore()).toMatchObject(unfulfilled);
    expect(await validate()).toMatchObject(leftToClient);
    await setCatalogueType('consumable');
    expect(await validate()).toMatchObject(leftToClient);
    expect(await findAtStore()).toMatchObject({ isConsumed: true });
  });

  it('does not consume a consumable that a request calls non consumable', async () => {
    const { validate, setCatalogueType, findAtStore } = await buy('consumable');
    await setCatalogueType('consumable');
    expect(await validate({ type: 'non consumable' })).toMatchObject({ ok: true });
    expect(await findAtStore()).toMatchObject({ isAcknowledged: true, isConsumed: false });
  });

  it("does not consume a product whose type in the app's catalogue differs from the first request", async () => {
    const { validate, setCatalogueType, findAtStore } = await buy('non consumable');
    await setCatalogueType('non consumable');
    expect(await validate({ type: 'consumable' })).toMatchObject({ ok: true });
    expect(await findAtStore()).toMatchObject(unfulfilled);
  });

  it('does not consume another product than the requested one', async () => {
    const { validate, findAtStore } = await buy('non consumable');
    expect(await validate({ id: 'coins', type: 'consumable' })).toMatchObject({ ok: false, code: 6778001 });
    expect(await findAtStore()).toMatchObject({ isConsumed: false });
  });

  it('returns a consumable that it consumed as not consumed, also to a client that lost the response', async () => {
    const { validate, setCatalogueType, findAtStore, fetchRecord } = await buy('consumable');
    await setCatalogueType('consumable');
    const first = await validate();
    expect(first).toMatchObject({
      ok: true,
      data: { collection: [{ isConsumed: false, isAcknowledged: false }] },
    });
    expect(await findAtStore()).toMatchObject({ isConsumed: true });
    const again = await validate();
    expect({ ...again.data, date: '' }).toEqual({ ...first.data, date: '' });
    await advance(23 * hourMs);
    expect((await validate()).data.collection).toEqual(first.data.collection);
    expect(await fetchRecord()).toMatchObject({ isConsumed: true, isAcknowledged: true });
  });

  it('returns PurchaseConsumed some days after it consumed the product', async () => {
    const { validate, setCatalogueType } = await buy('consumable');
    await setCatalogueType('consumable');
    expect(await validate()).toMatchObject({ ok: true });
    await advance(4 * dayMs);
    expect(await validate()).toMatchObject({ ok: false, code: 6778004 });
  });

  it('returns PurchaseConsumed to another customer', async () => {
    const { validate, setCatalogueType } = await buy('consumable');
    await setCatalogueType('consumable');
    expect(await validate()).toMatchObject({ ok: true });
    const other = { additionalData: { applicationUsername: createUniqueName('user') } };
    expect(await validate(other)).toMatchObject({ ok: false, code: 6778004 });
    expect(await validate({ additionalData: undefined })).toMatchObject({ ok: false, code: 6778004 });
    expect(await validate()).toMatchObject({ ok: true });
  });
});

describe('POST /v1/validate (Google Play) with wrong evidence or settings', () => {
  const buyProduct = async () =>
    await service.callControl('/purchases', {
      platform: 'store_b',
      type: 'paid subscription',
      productId: createUniqueName('product'),
      applicationUsername: createUniqueName('user'),
    });
  const validateBody = async (body: object) => (await service.validate(keys, body)).body;

  it('rejects an unknown token, a wrong signature and a receipt for a different app', async () => {
    const { validate: body } = await buyProduct();
    const { transaction } = body;
    const changes = [
      { purchaseToken: 'made-up-token', receipt: undefined, signature: undefined },
      { signature: Buffer.from('no signature').toString('base64') },
      { receipt: JSON.stringify({ packageName: 'com.other', purchaseToken: transaction.purchaseToken }) },
      { purchaseToken: '', receipt: 'not json' },
    ];
    for (const change of changes) {
      expect(await validateBody({ ...body, transaction: { ...transaction, ...change } })).toMatchObject({
        ok: false,
        code: 6778001,
      });
    }
  });

  it('returns InternalError if Google rejects the service account', async () => {
    const { serviceAccount } = await service.callControl('/settings/store_b');
    const wrong = { serviceAccount: { ...serviceAccount, client_email: 'other@example.com' } };
    const { validate: body } = await buyProduct();
    expect((await service.validate(await service.createApp(['store_b'], wrong), body)).body).toMatchObject({
      code: 6778005,
    });
  });

  it('accepts a signed receipt with a warning if the settings lack a service account', async () => {
    const appKeys = await service.createApp(['store_b'], { serviceAccount: undefined });
    const { validate: body } = await buyProduct();
    const { body: result } = await service.validate(appKeys, body);
    expect(result).toMatchObject({
      ok: true,
      data: { warning: expect.any(String), collection: [{ isExpired: false }] },
    });
  });
});
