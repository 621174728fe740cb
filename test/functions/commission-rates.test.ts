import { describe, expect, it } from '@jest/globals';
import { getCommissionRates } from '../../lib/apps/commission-rate-contract.ts';
import { changeSettings, setCommissionRates } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { getMrr } from '../../lib/statistics/mrr-contract.ts';
import { getRevenue } from '../../lib/statistics/revenue-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const keys = startBeforeAll(async () => await givenApp(await createTestTable()));

const rate = { platform: 'store_a', from: '2026-01-01', commissionPercent: 12.6, taxPercent: 15.97, countries: ['DE'] };

const readRates = async () => (await callWithSecretKey(getCommissionRates, keys)).body.rates;

describe('commissionRates of an app', () => {
  it('precede the default rates, and an empty list removes them', async () => {
    const defaults = await readRates();
    expect(defaults[0]).toEqual({ source: 'default', platform: 'store_a', from: '2008-07-10', commissionPercent: 30 });
    await setCommissionRates(getService(), keys.appName, [rate]);
    expect(await readRates()).toEqual([{ source: 'app', ...rate }, ...defaults]);
    await setCommissionRates(getService(), keys.appName, []);
    expect(await readRates()).toEqual(defaults);
  });

  it('name the stores in the vocabulary of the app', async () => {
    const brandApp = await givenApp(await createTestTable());
    await changeSettings(getService(), brandApp.appName, { vocabulary: 'brand' });
    expect((await callWithSecretKey(getCommissionRates, brandApp)).body.rates[0].platform).toBe('apple');
  });

  it('apply to the proceeds of payments that are recorded later', async () => {
    const { appName, ...other } = await givenApp(await createTestTable());
    const rates = [{ platform: 'store_a', from: '2026-01-01', commissionPercent: 15, taxPercent: 5 }];
    await setCommissionRates(getService(), appName, rates);
    const purchaseDate = Date.parse('2026-02-01T10:00:00Z');
    const expirationDate = Date.parse('2026-03-01T10:00:00Z');
    const observation = createObservation({ productType: 'paid subscription', purchaseDate, expirationDate });
    const period = { purchaseDate, expirationDate, amountMicros: 10_000_000 };
    const transactions = [createTransaction(observation.purchase, period)];
    await givenPurchase(appName, 'ann', { ...observation, asOf: Date.now(), transactions });
    const query = { startdate: '2026-02-10', enddate: '2026-02-10', amount: 'proceeds' };
    const { body } = await callWithSecretKey(getMrr, { appName, ...other }, { query });
    expect(body).toMatchObject({ proceedsSource: 'estimated', rows: [{ mrrUSD: 8 }] });
    const month = { startdate: '2026-02-01', enddate: '2026-02-28' };
    expect((await callWithSecretKey(getRevenue, { appName, ...other }, { query: month })).body).toMatchObject({
      rows: [{ grossUSD: 10, refundsUSD: 0, commissionUSD: 1.5, taxUSD: 0.5, proceedsUSD: 8 }],
    });
  });

  it.each([
    ['an unknown store', [{ ...rate, platform: 'x' }]],
    ['a percentage above 100', [{ ...rate, commissionPercent: 101 }]],
    ['a country in lower case', [{ ...rate, countries: ['de'] }]],
    ['a day that does not exist', [{ ...rate, from: '2026-02-30' }]],
    ['an unknown member', [{ ...rate, percent: 1 }]],
    ['too many rates', Array.from({ length: 61 }, () => rate)],
  ])('reject %s', async (_case, rates) => {
    await expect(setCommissionRates(getService(), keys.appName, rates)).rejects.toMatchObject({
      code: 'InvalidPayload',
    });
  });
});
