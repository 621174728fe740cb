import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { convertExportOf } from '../../../cli/import/from/convert-export-of.ts';
import { defaultRates } from '../../../cli/import/rate-limiter.ts';
import { runImport } from '../../../cli/import/run-import.ts';
import { getCustomerPurchases } from '../../../lib/customers/contract.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { verifyPurchase } from '../../../lib/openiap/contract.ts';
import { listTransactionsOfPurchases } from '../../../lib/purchases/purchase-table.ts';
import { callWithPublicKey, callWithSecretKey } from '../../../testing/call.ts';
import { startTestService } from '../../../testing/service.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
const keys = startBeforeAll(async () => await service.createApp(['store_a', 'store_b']));

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-export-'));
let files = 0;

function writeExport(lines: readonly string[]): string {
  const path = join(folder, `export-${++files}.csv`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}
const convert = async (from: 'revenuecat' | 'adapty', lines: readonly string[]) =>
  await convertExportOf(from, writeExport(lines), { appName: keys.appName, service: getService() });
const readLines = (path: string): object[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const buy = async (platform: string, applicationUsername: string) =>
  await service.callControl('/purchases', {
    platform,
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername,
  });

/** Returns the order id that the API of Google Play reports for a purchase. */
async function findOrderId(purchaseToken: string): Promise<string> {
  await callWithPublicKey(verifyPurchase, keys, { body: { store: 'google', purchaseToken } });
  const [transaction] = await listTransactionsOfPurchases(getService(), keys.appName, [`store_b:${purchaseToken}`]);
  return (transaction?.transactionId ?? '').replace('store_b:', '');
}

const columns =
  'rc_original_app_user_id,rc_last_seen_app_user_id_alias,store,product_identifier,is_sandbox,store_transaction_id,original_store_transaction_id,start_time,updated_at';

describe('convertExport', () => {
  it('leaves no rows, from which an import would be resumed, unless all files are written', async () => {
    const path = writeExport([columns, 'ann,ann,app_store,premium,false,1,1,2026-01-01,2026-01-01']);
    mkdirSync(`${path}.grants.jsonl`);
    await expect(convertExportOf('revenuecat', path, { appName: keys.appName, service: getService() })).rejects.toThrow(
      'EISDIR',
    );
    expect(existsSync(`${path}.rows.jsonl`)).toBe(false);
  });

  it('converts transactions of RevenueCat, finds the tokens of Google Play and lists what cannot be moved', async () => {
    const apple = await buy('store_a', 'ann');
    const google = await buy('store_b', 'bob');
    const { purchaseToken } = google.validate.transaction;
    const orderId = await findOrderId(purchaseToken);
    const report = await convert('revenuecat', [
      columns,
      `ann,ann,app_store,premium,false,1,${apple.id},2026-01-01 00:00:00,2026-01-01 00:00:00`,
      `ann,ann,app_store,premium,false,2,${apple.id},2026-02-01 00:00:00,2026-02-01 00:00:00`,
      `bob,bob,play_store,premium:monthly,false,${orderId},${orderId},2026-01-01 00:00:00,2026-01-01 00:00:00`,
      'old,old,play_store,premium,false,GPA.0000-0000-0000-00000,GPA.0000-0000-0000-00000,2020-01-01 00:00:00,2020-01-01 00:00:00',
      'eve,eve,promotional,rc_promo_pro_monthly,false,p1,p1,2026-01-01 00:00:00,2026-01-01 00:00:00',
      '$RCAnonymousID:1,$RCAnonymousID:1,stripe,gold,false,in_1,sub_1,2026-01-01 00:00:00,2026-01-01 00:00:00',
    ]);
    expect(report).toMatchObject({ rows: 3, unowned: 1, unmoved: 2 });
    expect(readLines(report.rowsFile)).toEqual([
      { platform: 'store_a', originalTransactionId: apple.id, sandbox: 'false', user: 'ann' },
      { platform: 'store_b', productId: 'premium', user: 'bob', token: purchaseToken },
      { platform: 'processor_a', token: 'sub_1' },
    ]);
    expect(readLines(report.unmovedFile)).toEqual([
      { id: 'GPA.0000-0000-0000-00000', reason: 'Google Play does not have the order.' },
      { id: 'p1', reason: expect.stringMatching(/grant create/) },
    ]);
  });

  it('writes rows that the import accepts, without webhooks and once', async () => {
    const apple = await buy('store_a', 'cid');
    const { rowsFile } = await convert('revenuecat', [
      columns,
      `cid,cid,app_store,premium,false,1,${apple.id},2026-01-01 00:00:00,2026-01-01 00:00:00`,
    ]);
    const options = {
      appName: keys.appName,
      path: rowsFile,
      isUnannounced: true,
      givesCredits: false,
      isResumed: false,
      rates: defaultRates,
      maxWaitMs: 0,
      signal: new AbortController().signal,
      onProgress: () => {},
      service: getService(),
    };
    expect(await runImport(options)).toMatchObject({ imported: 1, refused: 0 });
    expect(await runImport(options)).toMatchObject({ imported: 0, unchanged: 1 });
    const { purchases } = (
      await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'cid' } })
    ).body as { purchases: object };
    expect(Object.keys(purchases)).toEqual(['store_a:premium']);
  });

  it('converts the tokens that the support of RevenueCat sends', async () => {
    const report = await convert('revenuecat', [
      'user_id,google_purchase_token,google_product_id',
      'ann,token-1,gold:m',
    ]);
    expect(readLines(report.rowsFile)).toEqual([
      { platform: 'store_b', token: 'token-1', productId: 'gold', user: 'ann' },
    ]);
  });

  it('converts the import files and the events of Adapty', async () => {
    const files = await convert('adapty', ['user_id,apple_original_transaction_id', 'ann,2000000']);
    expect(readLines(files.rowsFile)).toEqual([{ platform: 'store_a', originalTransactionId: '2000000', user: 'ann' }]);
    const events = await convert('adapty', [
      'profile_id,event_type,event_datetime,transaction_id,original_transaction_id,environment,store,customer_user_id',
      'p1,subscription_started,2026-01-01T00:00:00Z,1,1,Sandbox,app_store,',
      'p1,subscription_renewed,2026-02-01T00:00:00Z,2,1,Sandbox,app_store,ann',
    ]);
    expect(readLines(events.rowsFile)).toEqual([
      { platform: 'store_a', originalTransactionId: '1', sandbox: 'true', user: 'ann' },
    ]);
  });

  const appleRow = (user: string, id: string | number, updatedAt = '2026-01-01 00:00:00'): string =>
    `$RCAnonymousID:1,${user},app_store,premium,false,${id},${id},2026-01-01 00:00:00,${updatedAt}`;
  const convertBytes = async (content: Buffer) => {
    const path = join(folder, `bytes-${++files}.csv`);
    writeFileSync(path, content);
    return await convertExportOf('revenuecat', path, { appName: keys.appName, service: getService() });
  };
  const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');

  it.each([
    ['UTF-8 with a byte order mark', (text: string) => Buffer.from(`\uFEFF${text}`)],
    ['UTF-16 of little-endian', utf16],
    ['UTF-16 of big-endian', (text: string) => utf16(text).swap16()],
    ['gzip', (text: string) => gzipSync(text)],
    ['semicolons', (text: string) => Buffer.from(text.replaceAll(',', ';'))],
  ])('reads %s, with carriage returns and quoted line feeds', async (_encoding, encode) => {
    const { rowsFile } = await convertBytes(encode([columns, appleRow('"Jürgen ""J""\r\nx"', 7)].join('\r\n')));
    expect(readLines(rowsFile)).toEqual([
      { platform: 'store_a', originalTransactionId: '7', sandbox: 'false', user: 'Jürgen "J"\r\nx' },
    ]);
  });

  it.each([
    ['without the columns of the export', Buffer.from('a,b\n1,2\n'), /none of the columns/],
    ['with a column twice', Buffer.from(`${columns},store\n`), /column twice/],
    ['without rows', Buffer.from(`${columns}\n`), /has no rows/],
    ['without content', Buffer.alloc(0), /has no rows/],
    ['in Latin-1', Buffer.from(`${columns}\n${appleRow('Jürgen', 1)}\n`, 'latin1'), /is not UTF-8/],
    ['with an open quote', Buffer.from(`${columns}\n${appleRow('"ann', 1)}\n`), /quotes of a row are invalid/],
    ['with half a gzip', gzipSync(`${columns}\n${appleRow('ann', 1)}\n`).subarray(0, 40), /incomplete gzip/],
  ])('rejects a file %s', async (_case, content, message) => {
    const converting = convertBytes(content);
    await expect(converting).rejects.toMatchObject({ code: 'InvalidPayload', message: expect.stringMatching(message) });
  });

  it('rejects a missing file', async () => {
    const converting = convertExportOf('adapty', join(folder, 'x.csv'), {
      appName: keys.appName,
      service: getService(),
    });
    await expect(converting).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringMatching(/not found/),
    });
  });

  it('lists a row that was cut off, and moves the others', async () => {
    const report = await convert('revenuecat', [columns, appleRow('ann', 1), '$RCAnonymousID:1,ben,app_st']);
    expect(report).toMatchObject({ rows: 1, unmoved: 1 });
    expect(readLines(report.unmovedFile)).toEqual([
      { id: 'line 3', reason: expect.stringMatching(/another number of values/) },
    ]);
  });

  it('reads 20,000 rows of one customer, and keeps the latest of repeated ones', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => appleRow('ann', index % 5_000));
    const report = await convert('revenuecat', [columns, ...rows]);
    expect(report).toMatchObject({ rows: 5_000, unowned: 0, unmoved: 0 });
  });

  it('selects the customer who is not anonymous, also from an earlier row of the purchase', async () => {
    const anonymous = '$RCAnonymousID:2';
    const report = await convert('revenuecat', [
      columns,
      `ann,${anonymous},app_store,premium,false,1,1,2026-01-01 00:00:00,2026-01-01 00:00:00`,
      appleRow('ben', 2),
      appleRow(anonymous, 2, '2026-02-01 00:00:00'),
      appleRow(anonymous, 3),
    ]);
    expect(readLines(report.rowsFile)).toMatchObject([{ user: 'ann' }, { user: 'ben' }, { platform: 'store_a' }]);
    expect(report.unowned).toBe(1);
  });

  it('lists stores that the service does not support', async () => {
    const stores = ['amazon', 'roku', 'rc_billing', ''];
    const rows = stores.map((store, index) => appleRow('ann', index).replace('app_store', store));
    const report = await convert('revenuecat', [columns, ...rows]);
    expect(report).toMatchObject({ rows: 0, unmoved: stores.length });
  });
});
