import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { saveAnnotation } from '../../lib/annotations/annotation-table.ts';
import { createAnnotation, deleteAnnotation, listAnnotations } from '../../lib/annotations/contract.ts';
import { createApiKey, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { minuteMs } from '../../lib/foundation/time.ts';
import type { Transaction } from '../../lib/purchases/transaction.ts';
import { readPriceChanges } from '../../lib/statistics/read-price-changes.ts';
import { buildBasicAuth, callEndpoint, callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';

let keys: IssuedApiKeys;
beforeEach(async () => {
  keys = await givenApp(await createTestTable());
});

const create = async (date: string, text: string) =>
  await callWithSecretKey(createAnnotation, keys, { body: { date, text } });
const list = async (query: Readonly<Record<string, string>> = {}) =>
  (await callWithSecretKey(listAnnotations, keys, { query })).body.rows;
const remove = async (annotationId: string, from = keys) =>
  await callWithSecretKey(deleteAnnotation, from, { params: { annotationId } });

describe('POST /v3/annotations', () => {
  it('stores a text on a day, once however often it is sent', async () => {
    const { status, body } = await create('2026-01-15', '  Release 2.0 ');
    const annotation = {
      id: expect.any(String),
      date: '2026-01-15',
      text: 'Release 2.0',
      createdAt: expect.any(String),
    };
    expect([status, body]).toEqual([200, annotation]);
    expect((await create('2026-01-15', 'Release 2.0')).body).toEqual(body);
    expect(await list()).toEqual([body]);
  });

  it.each([
    ['an empty text', { date: '2026-01-15', text: ' ' }],
    ['a long text', { date: '2026-01-15', text: 'x'.repeat(301) }],
    ['a day that does not exist', { date: '2026-02-30', text: 'x' }],
    ['another member', { date: '2026-01-15', text: 'x', color: 'red' }],
  ])('rejects %s', async (_case, body) => {
    expect((await callWithSecretKey(createAnnotation, keys, { body })).status).toBe(400);
  });

  it('rejects the annotation after 500', async () => {
    await getService().table.batchPut(
      Array.from({ length: 500 }, (_, number) => ({
        pk: `${keys.appName}#N`,
        sk: `2026-01-15#${number}`,
        text: 'x',
        createdAt: 0,
      })),
    );
    expect(await create('2026-01-15', 'x')).toMatchObject({
      status: 409,
      body: { message: 'An app has at most 500 annotations. Delete one first.' },
    });
  });
});

describe('GET /v3/annotations', () => {
  it('returns the range, first and last day included, to a viewer key', async () => {
    const { key } = await createApiKey(getService(), keys.appName, { level: 'viewer', name: 'eve', now: Date.now() });
    for (const day of ['2026-01-31', '2026-01-01', '2026-02-01']) await create(day, `Text of ${day}`);
    expect((await list()).map(({ date }: { date: string }) => date)).toEqual([
      '2026-01-01',
      '2026-01-31',
      '2026-02-01',
    ]);
    const query = { startdate: '2026-01-01', enddate: '2026-01-31' };
    const { body } = await callEndpoint(listAnnotations, { headers: buildBasicAuth(keys.appName, key), query });
    expect(body.rows.map(({ date }: { date: string }) => date)).toEqual(['2026-01-01', '2026-01-31']);
    expect((await callWithPublicKey(listAnnotations, keys)).status).toBe(403);
    const reversed = { startdate: query.enddate, enddate: query.startdate };
    const none = { rows: [], priceChanges: [] };
    expect((await callWithSecretKey(listAnnotations, keys, { query: reversed })).body).toEqual(none);
  });

  it('returns the change of a price that the payments show, without trials, offers and prorated payments', async () => {
    const pay = async (number: number, day: string, fields: Partial<Transaction>): Promise<void> => {
      const purchaseDate = Date.parse(`${day}T10:00:00Z`);
      const { purchase } = createObservation({ purchaseId: `store_a:${number}`, purchaseDate });
      const period = { purchaseDate, expirationDate: purchaseDate + 30 * 86_400_000, storefront: 'DEU' };
      const transaction = createTransaction(purchase, {
        ...period,
        currency: 'EUR',
        amountMicros: 9_990_000,
        ...fields,
      });
      const observation = createObservation(purchase, { asOf: purchaseDate, transactions: [transaction] });
      await givenPurchase(keys.appName, `user-${number}`, observation);
    };
    const other = { amountMicros: 4_990_000 };
    await pay(1, '2026-01-10', {});
    await pay(2, '2026-01-11', {});
    for (const number of [3, 4, 5]) await pay(number, `2026-02-0${number}`, { ...other, offerType: '1' });
    for (const number of [6, 7, 8])
      await pay(number, '2026-02-12', { ...other, plan: { amountMicros: 9_990_000, period: 'P1M' } });
    for (const number of [10, 11, 12]) await pay(number, `2026-02-${number}`, { amountMicros: 11_990_000 });
    const query = { startdate: '2026-01-01', enddate: '2026-03-31' };
    const change = {
      date: '2026-02-10',
      platform: 'store_a',
      productId: 'store_a:monthly',
      currency: 'EUR',
      fromMicros: 9_990_000,
      toMicros: 11_990_000,
      countries: ['DE'],
    };
    expect((await callWithSecretKey(listAnnotations, keys, { query })).body).toEqual({
      rows: [],
      priceChanges: [change],
    });
    const later = { startdate: '2026-02-11', enddate: '2026-03-31' };
    expect((await callWithSecretKey(listAnnotations, keys, { query: later })).body.priceChanges).toEqual([]);
    const { table } = getService();
    const countedQuery = jest.fn(table.query);
    const readAt = async (now: number) =>
      await readPriceChanges(
        { ...getService(), now: () => now, table: { ...table, query: countedQuery } },
        keys.appName,
        query,
      );
    expect(await readAt(Date.now() + 9 * minuteMs)).toEqual([change]);
    expect(countedQuery).not.toHaveBeenCalled();
    expect(await readAt(Date.now() + 11 * minuteMs)).toEqual([change]);
    expect(countedQuery).toHaveBeenCalled();
  });
});

describe('DELETE /v3/annotations/:annotationId', () => {
  it('deletes an annotation of the own app only', async () => {
    const { body } = await create('2026-01-15', 'Release 2.0');
    expect(await remove(body.id, await givenApp(getService().table))).toMatchObject({ status: 404 });
    expect(await remove(body.id)).toMatchObject({ status: 200, body });
    expect(await remove(body.id)).toMatchObject({ status: 404, body: { message: 'The annotation is not found.' } });
    expect(await list()).toEqual([]);
  });

  it('does not find an id with a different format', async () => {
    await saveAnnotation(getService(), keys.appName, { date: '2026-01-15', text: 'x' });
    expect((await remove('2026-01-15')).status).toBe(404);
  });
});
