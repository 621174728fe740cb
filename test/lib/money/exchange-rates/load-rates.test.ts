import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClock } from '../../../../emulator/clock.ts';
import { type RunningEmulator, startEmulator } from '../../../../emulator/start-emulator.ts';
import {
  createExchangeRateRepository,
  type ExchangeRateRepository,
} from '../../../../lib/db/exchange-rate-repository.ts';
import type { Table } from '../../../../lib/db/table.ts';
import { attachUsdRates } from '../../../../lib/money/attach-usd-rates.ts';
import { loadRates } from '../../../../lib/money/exchange-rates/load-rates.ts';
import { createRateCache } from '../../../../lib/money/exchange-rates/rate-cache.ts';
import { hourMs } from '../../../../lib/shared/time.ts';
import { createObservation, createTransaction } from '../../../../testing/given.ts';
import { createTestTable } from '../../../../testing/table.ts';

// The history is shared by all applications, so that each test has a year of its own.
describe('loadRates', () => {
  let table: Table;
  let dailyRates: ExchangeRateRepository;
  let emulator: RunningEmulator;
  const load = async (now: string, url = emulator.url) => {
    emulator.clock.set(Date.parse(now));
    await loadRates({ now: () => Date.parse(now), emulator: { url, roots: [] }, dailyRates });
  };
  const ratesDay = async (date: string) => (await dailyRates.findForPurchaseDate(Date.parse(date)))?.date;

  beforeAll(async () => {
    table = await createTestTable();
    dailyRates = createExchangeRateRepository(table);
    emulator = await startEmulator({ port: 0, clock: createClock() });
  });
  afterAll(async () => await emulator.close());

  it('keeps the last day and fills the days before it, once', async () => {
    await load('2031-06-13T16:00:00Z');
    const days = await dailyRates.listStoredDays('2031-01-01', '2031-12-31');
    expect(days.at(-1)).toBe('2031-06-13');
    expect(days.length).toBeGreaterThan(55);
    expect(days).not.toContain('2031-06-08');
    await load('2031-06-13T16:00:00Z');
    expect(await dailyRates.listStoredDays('2031-01-01', '2031-12-31')).toEqual(days);
  });

  it('converts purchases of a weekend and a holiday at the last rates before', async () => {
    await load('2032-05-05T16:00:00Z');
    expect(await ratesDay('2032-05-03T08:00:00Z')).toBe('2032-04-30');
    expect(await ratesDay('2032-05-02T08:00:00Z')).toBe('2032-04-30');
    expect(await ratesDay('2032-04-30T23:59:59Z')).toBe('2032-04-29');
    expect(await ratesDay('2032-05-15T00:00:00Z')).toBe('2032-05-05');
    expect(await ratesDay('2032-05-16T00:00:00Z')).toBeUndefined();
  });

  it('heals days on which it did not run', async () => {
    await load('2033-06-10T16:00:00Z');
    await load('2033-06-20T16:00:00Z');
    expect(await dailyRates.listStoredDays('2033-06-11', '2033-06-17')).toEqual(
      ['13', '14', '15', '16', '17'].map((day) => `2033-06-${day}`),
    );
  });

  it.each([
    ['an HTML page', 200, '<html><body>Maintenance</body></html>'],
    ['an error', 503, ''],
    ['rates of long ago', 200, 'old'],
    ['rates of a day to come', 200, 'new'],
  ])('keeps nothing and fails on %s', async (_what, status, body) => {
    const file = async (now: string) => {
      emulator.clock.set(Date.parse(now));
      return await (await fetch(`${emulator.url}/www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml`)).text();
    };
    const bodies: Record<string, string> = {
      old: await file('2034-03-01T16:00:00Z'),
      new: await file('2034-03-29T16:00:00Z'),
    };
    const bank = await answering(status, bodies[body] ?? body);
    await expect(load('2034-03-15T16:00:00Z', urlOf(bank))).rejects.toMatchObject({ code: 'ConnectionFailed' });
    bank.close();
    expect(await dailyRates.listStoredDays('2034-01-01', '2034-12-31')).toEqual([]);
  });

  it('prices a look with one read for a day, and dollars with none', async () => {
    await load('2035-03-16T16:00:00Z');
    const purchaseDate = Date.parse('2035-03-16T12:00:00Z');
    const { purchase } = createObservation({ purchaseDate });
    const look = (currency: string) => [createTransaction(purchase, { currency })];
    const rates = createRateCache(dailyRates, () => purchaseDate);
    const read = table.consumed.read;
    expect(
      await attachUsdRates(
        look('USD'),
        [],
        createRateCache({ findForPurchaseDate: () => Promise.reject() }, () => 0),
      ),
    ).toEqual(look('USD'));
    expect(table.consumed.read).toBe(read);
    const [priced] = await attachUsdRates(look('JPY'), [], rates);
    expect(priced?.usdRateDate).toBe('2035-03-15');
    const readOnce = table.consumed.read;
    expect(readOnce).toBeGreaterThan(read);
    expect((await attachUsdRates(look('COP'), [], rates))[0]?.usdRate).toBeUndefined();
    expect(table.consumed.read).toBe(readOnce);
  });

  it.each([
    ['the rates of the days before came in late', '2036-05-15T12:00:00Z', '2036-05-07', '2036-05-14'],
    ['it is a Monday, and only those of Thursday were known', '2037-06-15T12:00:00Z', '2037-06-11', '2037-06-12'],
  ])('converts a day within the hour at the best rates where %s', async (_what, bought, early, late) => {
    const purchaseDate = Date.parse(bought);
    let now = purchaseDate;
    const rates = createRateCache(dailyRates, () => now);
    await dailyRates.save([{ date: early, perEuro: { USD: '1.10' } }]);
    expect((await rates.findForDate(purchaseDate))?.date).toBe(early);
    await dailyRates.save([{ date: late, perEuro: { USD: '1.30' } }]);
    now += hourMs;
    expect((await rates.findForDate(purchaseDate))?.date).toBe(late);
  });

  it.each([
    ['a Monday the rates of Friday', '2026-06-15T12:00:00Z', '2026-06-12', 0],
    ['a Saturday those of Friday', '2026-06-13T12:00:00Z', '2026-06-12', 0],
    ['a Friday those of Thursday', '2026-06-12T12:00:00Z', '2026-06-11', 0],
    ['a day after a holiday, some months later, those before it', '2026-05-02T12:00:00Z', '2026-04-30', 100],
  ])('keeps for %s for good', async (_what, bought, date, daysLater) => {
    const purchaseDate = Date.parse(bought);
    let [now, reads] = [purchaseDate + daysLater * 24 * hourMs, 0];
    const findForPurchaseDate = async () => ({ date, perEuro: { USD: '1.10' }, read: ++reads });
    const rates = createRateCache({ findForPurchaseDate }, () => now);
    for (let hour = 0; hour < 3; hour++, now += hourMs)
      expect(await rates.findForDate(purchaseDate)).toMatchObject({ date });
    expect(reads).toBe(1);
  });

  it('estimates by the snapshot for three years around it, where the history has nothing', async () => {
    const rates = createRateCache({ findForPurchaseDate: async () => undefined }, () => 0);
    expect((await rates.findForDate(Date.parse('2023-05-05')))?.date).toBe('2024-12-31');
    expect(await rates.findForDate(Date.parse('2021-05-05'))).toBeUndefined();
    expect(await rates.findForDate(Date.parse('2028-05-05'))).toBeUndefined();
  });

  it('ends a look without rates rather than failing it', async () => {
    const rates = createRateCache({ findForPurchaseDate: () => Promise.reject(new Error('no table')) }, () => 0);
    const look = [createTransaction(createObservation().purchase, { currency: 'JPY' })];
    expect(await attachUsdRates(look, [], rates)).toEqual(look);
  });
});

async function answering(status: number, body: string): Promise<Server> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
