import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { convertExportOf } from '../../../cli/import/from/convert-export-of.ts';
import { defaultRates } from '../../../cli/import/rate-limiter.ts';
import { runImport } from '../../../cli/import/run-import.ts';
import { deps } from '../../../composition/deps.ts';
import { getCustomerPurchases } from '../../../lib/api/customers.ts';
import { verifyPurchase } from '../../../lib/api/openiap.ts';
import type { IssuedApiKeys } from '../../../lib/apps/manage-apps.ts';
import { callWithPublicKey, callWithSecretKey } from '../../../testing/call.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';

let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['store_a', 'store_b']);
});
afterAll(async () => {
  await service.close();
});

const folder = mkdtempSync(join(tmpdir(), 'claimcheck-export-'));
let files = 0;
function writeExport(lines: readonly string[]): string {
  const path = join(folder, `export-${++files}.csv`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}
const convert = async (from: 'revenuecat' | 'adapty', lines: readonly string[]) =>
  await convertExportOf(from, writeExport(lines), { appName: keys.appName, deps: deps() });
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
  const [transaction] = await deps().purchases.listTransactions(keys.appName, [`store_b:${purchaseToken}`]);
  return (transaction?.transactionId ?? '').replace('store_b:', '');
}

const columns =
  'rc_original_app_user_id,rc_last_seen_app_user_id_alias,store,product_identifier,is_sandbox,store_transaction_id,original_store_transaction_id,start_time,updated_at';

describe('convertExport', () => {
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
      isResumed: false,
      rates: defaultRates,
      maxWaitMs: 0,
      signal: new AbortController().signal,
      onProgress: () => {},
      deps: deps(),
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

  it('rejects a file without the columns of the export', async () => {
    await expect(convert('revenuecat', ['a,b', '1,2'])).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});
