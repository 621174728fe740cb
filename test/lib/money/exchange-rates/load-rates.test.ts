import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClock } from '../../../../emulator/clock.ts';
import { type RunningEmulator, startEmulator } from '../../../../emulator/start-emulator.ts';
import type { Service } from '../../../../lib/foundation/service.ts';
import { createStopwatch } from '../../../../lib/foundation/stopwatch.ts';
import type { Table } from '../../../../lib/foundation/table.ts';
import { dayMs, hourMs } from '../../../../lib/foundation/time.ts';
import { attachUsdRates } from '../../../../lib/money/attach-usd-rates.ts';
import {
  findRatesForDate,
  findStoredRates,
  listRateDays,
  saveRates,
} from '../../../../lib/money/exchange-rates/exchange-rate-table.ts';
import { loadRates, parseEcbRates } from '../../../../lib/money/exchange-rates/load-rates.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import { createService } from '../../../../testing/create-service.ts';
import { createObservation, createTransaction } from '../../../../testing/given.ts';
import { getStoreKeys } from '../../../../testing/run-keys.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { createTestTable } from '../../../../testing/table.ts';

// All apps share the stored rates, so each test uses its own year.
const table = startBeforeAll(createTestTable);
let service: Service;
let emulator: RunningEmulator;
beforeAll(async () => {
  service = createService(table);
  emulator = await startEmulator({ port: 0, clock: createClock(), keys: getStoreKeys() });
});
afterAll(async () => await emulator.close());

const load = async (now: string, url = emulator.url) => {
  emulator.clock.set(Date.parse(now));
  const clock = { now: () => Date.parse(now) };
  const fetchText = createRecordedFetch({
    storeName: 'The European Central Bank',
    record: () => {},
    ...clock,
    stopwatch: createStopwatch(),
    storesUrl: url,
  });
  await loadRates({ ...service, ...clock }, { fetchText });
};
const findRatesDay = async (date: string) => (await findStoredRates(service, Date.parse(date)))?.date;

describe('loadRates', () => {
  it('stores the rates of the last 90 days once', async () => {
    await load('2031-06-13T16:00:00Z');
    const days = await listRateDays(service, '2031-01-01', '2031-12-31');
    expect(days.at(-1)).toBe('2031-06-13');
    expect(days.length).toBeGreaterThan(55);
    expect(days).not.toContain('2031-06-08');
    await load('2031-06-13T16:00:00Z');
    expect(await listRateDays(service, '2031-01-01', '2031-12-31')).toEqual(days);
  });

  it('applies the last rates before a weekend or holiday to its purchases', async () => {
    await load('2032-05-05T16:00:00Z');
    expect(await findRatesDay('2032-05-03T08:00:00Z')).toBe('2032-04-30');
    expect(await findRatesDay('2032-05-02T08:00:00Z')).toBe('2032-04-30');
    expect(await findRatesDay('2032-04-30T23:59:59Z')).toBe('2032-04-29');
    expect(await findRatesDay('2032-05-15T00:00:00Z')).toBe('2032-05-05');
    expect(await findRatesDay('2032-05-16T00:00:00Z')).toBeUndefined();
  });

  it('fills in the days on which it did not run', async () => {
    await load('2033-06-10T16:00:00Z');
    await load('2033-06-20T16:00:00Z');
    expect(await listRateDays(service, '2033-06-11', '2033-06-17')).toEqual(
      ['13', '14', '15', '16', '17'].map((day) => `2033-06-${day}`),
    );
  });

  it.each([
    ['an HTML page', 200, '<html><body>Maintenance</body></html>'],
    ['an error', 503, ''],
    ['stale rates', 200, 'old'],
    ['rates of a future day', 200, 'new'],
  ])('throws and stores nothing if the bank responds with %s', async (_what, status, body) => {
    const fetchCsv = async (now: string) => {
      emulator.clock.set(Date.parse(now));
      const query = `startPeriod=${now.slice(0, 8)}01&detail=dataonly&format=csvdata`;
      const response = await fetch(`${emulator.url}/data-api.ecb.europa.eu/service/data/EXR/D..EUR.SP00.A?${query}`);
      expect(response.status).toBe(200);
      return await response.text();
    };
    const bodies: Record<string, string> = {
      old: await fetchCsv('2034-03-02T16:00:00Z'),
      new: await fetchCsv('2034-03-29T16:00:00Z'),
    };
    const bank = await startServer(status, bodies[body] ?? body);
    await expect(load('2034-03-15T16:00:00Z', toUrl(bank))).rejects.toMatchObject({ code: 'ConnectionFailed' });
    bank.close();
    expect(await listRateDays(service, '2034-01-01', '2034-12-31')).toEqual([]);
  });
});

const brokenService = createService({
  ...({} as Table),
  query: async () => await Promise.reject(new Error('no table')),
});

describe('attachUsdRates', () => {
  it('reads the rates of a day once, and none for US dollars', async () => {
    await load('2035-03-16T16:00:00Z');
    const purchaseDate = Date.parse('2035-03-16T12:00:00Z');
    const { purchase } = createObservation({ purchaseDate });
    const buildTransactions = (currency: string) => [createTransaction(purchase, { currency })];
    const rates = createService(table, { now: () => purchaseDate });
    const convert = async (currency: string, source = rates) =>
      await attachUsdRates(source, buildTransactions(currency), { stored: [], appRates: undefined });
    const unitsBefore = table.consumed.read;
    expect(await convert('USD', brokenService)).toEqual(buildTransactions('USD'));
    expect(table.consumed.read).toBe(unitsBefore);
    const [converted] = await convert('JPY');
    expect(converted?.usdRateDate).toBe('2035-03-15');
    const unitsAfter = table.consumed.read;
    expect(unitsAfter).toBeGreaterThan(unitsBefore);
    expect((await convert('COP'))[0]?.usdRate).toBeUndefined();
    expect(table.consumed.read).toBe(unitsAfter);
  });

  it('returns the transactions without rates if the rates are unavailable', async () => {
    const transactions = [createTransaction(createObservation().purchase, { currency: 'JPY' })];
    expect(await attachUsdRates(brokenService, transactions, { stored: [], appRates: undefined })).toEqual(
      transactions,
    );
  });
});

describe('findRatesForDate', () => {
  it.each([
    ['the rates of the days before are loaded late', '2036-05-15T12:00:00Z', '2036-05-07', '2036-05-14'],
    ["Friday's rates are loaded on Monday", '2037-06-15T12:00:00Z', '2037-06-11', '2037-06-12'],
  ])('returns better rates within one hour if %s', async (_what, date, early, late) => {
    const purchaseDate = Date.parse(date);
    let now = purchaseDate;
    const rates = createService(table, { now: () => now });
    await saveRates(service, [{ date: early, perEuro: { USD: '1.10' } }]);
    expect((await findRatesForDate(rates, purchaseDate))?.date).toBe(early);
    await saveRates(service, [{ date: late, perEuro: { USD: '1.30' } }]);
    now += hourMs;
    expect((await findRatesForDate(rates, purchaseDate))?.date).toBe(late);
  });

  it.each([
    ["Friday's rates for a Monday", '2026-06-15T12:00:00Z', '2026-06-12', 0],
    ["Friday's rates for a Saturday", '2026-06-13T12:00:00Z', '2026-06-12', 0],
    ["Thursday's rates for a Friday", '2026-06-12T12:00:00Z', '2026-06-11', 0],
    ['the rates before a holiday after some months', '2026-05-02T12:00:00Z', '2026-04-30', 100],
  ])('keeps %s permanently', async (_what, bought, date, daysLater) => {
    const purchaseDate = Date.parse(bought);
    let [now, reads] = [purchaseDate + daysLater * dayMs, 0];
    const query = async () => {
      reads += 1;
      return [{ date, perEuro: { USD: '1.10' } }];
    };
    const service = createService({ ...table, query }, { now: () => now });
    for (let hour = 0; hour < 3; hour++, now += hourMs)
      expect(await findRatesForDate(service, purchaseDate)).toMatchObject({ date });
    expect(reads).toBe(1);
  });

  it('returns fallback rates for three years before and after their date', async () => {
    const service = createService({ ...table, query: async () => [] });
    expect((await findRatesForDate(service, Date.parse('2023-05-05')))?.date).toBe('2024-12-31');
    expect(await findRatesForDate(service, Date.parse('2021-05-05'))).toBeUndefined();
    expect(await findRatesForDate(service, Date.parse('2028-05-05'))).toBeUndefined();
  });
});

async function startServer(status: number, body: string): Promise<Server> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const toUrl = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const header = 'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE';
const row = (currency: string, date: string, rate: string): string =>
  `EXR.D.${currency}.EUR.SP00.A,D,${currency},EUR,SP00,A,${date},${rate}`;
const sample = [header, row('JPY', '2024-12-31', '163.06'), row('USD', '2024-12-31', '1.0389')].join('\r\n');

describe('parseEcbRates', () => {
  it('parses the rates of a day', () => {
    expect(parseEcbRates(sample)).toEqual([{ date: '2024-12-31', perEuro: { USD: '1.0389', JPY: '163.06' } }]);
  });

  it('parses several days, with any line ending', () => {
    const rows = [row('USD', '2024-12-27', '1.0435'), row('USD', '2024-12-30', '1.0444')];
    const expected = ['2024-12-27', '2024-12-30'];
    expect(parseEcbRates([header, ...rows, ''].join('\n')).map(({ date }) => date)).toEqual(expected);
    expect(parseEcbRates([header, ...rows, ''].join('\r\n')).map(({ date }) => date)).toEqual(expected);
  });

  it('finds the columns by name', () => {
    const csv = 'OBS_VALUE,TIME_PERIOD,CURRENCY_DENOM,CURRENCY\n1.0389,2024-12-31,EUR,USD';
    expect(parseEcbRates(csv)).toEqual([{ date: '2024-12-31', perEuro: { USD: '1.0389' } }]);
  });

  it.each(['', 'NaN'])('leaves out a holiday, whose observations have the value "%s"', (value) => {
    const holiday = [row('JPY', '2025-01-01', value), row('USD', '2025-01-01', value)];
    expect(parseEcbRates([sample, ...holiday].join('\r\n')).map(({ date }) => date)).toEqual(['2024-12-31']);
  });

  it.each([
    ['an HTML page', '<!DOCTYPE html><html><body>Sorry</body></html>'],
    ['an empty response', ''],
    ['a truncated response', sample.slice(0, -60)],
    ['a negative rate', sample.replace('163.06', '-163.06')],
    ['a rate of zero', sample.replace('163.06', '0.00')],
    ['a rate with an exponent', sample.replace('163.06', '1e9')],
    ['a rate that is not a number', sample.replace('163.06', 'N/A')],
    ['a day that does not exist', sample.replaceAll('12-31', '02-31')],
    ['a day without US dollars', sample.replaceAll('USD', 'GBP')],
    ['a repeated currency', sample.replaceAll('JPY', 'USD')],
    ['an invalid currency code', sample.replaceAll('JPY', '__proto__')],
    ['an additional column in a row', sample.replace('163.06', '163.06,A')],
    ['a rate against another currency', sample.replace('JPY,EUR', 'JPY,GBP')],
    ['a missing column', sample.replace('OBS_VALUE', 'VALUE')],
    ['a header without rows', header],
  ])('rejects %s', (_what, csv) => {
    expect(() => parseEcbRates(csv)).toThrow('The exchange rates of the European Central Bank are invalid.');
  });
});
