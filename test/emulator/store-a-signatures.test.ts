import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppStoreServerAPIClient, Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { createClock } from '../../emulator/clock.ts';
import { type EmulatorClient, startEmulatorClient, type TestResponse } from './emulator-client.ts';

let user: EmulatorClient;

// The official client signs its tokens by the real time.
beforeAll(async () => {
  user = await startEmulatorClient({ clock: createClock() });
});
afterAll(() => user.close());

const hosts = { Production: 'api.storekit.apple.com', Sandbox: 'api.storekit-sandbox.apple.com' } as const;

/** Apple's own verifier and API client for an environment, the client's calls led to the emulator. */
function official(environment: keyof typeof hosts): { verifier: SignedDataVerifier; client: AppStoreServerAPIClient } {
  const settings = user.settings('store_a') as Record<string, string>;
  const { privateKey = '', keyId = '', issuerId = '', bundleId = '' } = settings;
  const named = environment === 'Production' ? Environment.PRODUCTION : Environment.SANDBOX;
  const client = new AppStoreServerAPIClient(privateKey, keyId, issuerId, bundleId, named);
  const makeFetchRequest = (
    path: string,
    query: URLSearchParams,
    method: string,
    body: string,
    headers: Record<string, string>,
  ) => fetch(`${user.url}/${hosts[environment]}${path}?${query}`, { method, headers, ...(body && { body }) });
  return {
    verifier: new SignedDataVerifier([user.rootCertificate], false, named, bundleId, Number(settings.appAppleId)),
    client: Object.assign(client, { makeFetchRequest }),
  };
}

describe.each(['Production', 'Sandbox'] as const)("Apple's own library in %s", (environment) => {
  const order = { applicationUsername: 'alice', sandbox: environment === 'Sandbox', trial: true };
  let bought: TestResponse;
  beforeAll(async () => {
    bought = await user.buy(order);
    await user.act(bought.body.id, 'renew');
    await user.buy({ ...order, trial: false, productId: 'coins', type: 'consumable', quantity: 3 });
    const lost = await user.buy({ ...order, trial: false, productId: 'book', type: 'non consumable' });
    await user.act(lost.body.id, 'refund');
  });

  it('believes the transaction that a client sends', async () => {
    const { verifier } = official(environment);
    const transaction = await verifier.verifyAndDecodeTransaction(bought.body.validate.transaction.jwsRepresentation);
    expect(transaction).toMatchObject({
      transactionId: bought.body.id,
      originalTransactionId: bought.body.id,
      bundleId: 'com.example.app',
      productId: 'monthly',
      subscriptionGroupIdentifier: expect.any(String),
      webOrderLineItemId: expect.any(String),
      quantity: 1,
      type: 'Auto-Renewable Subscription',
      appAccountToken: '6384e2b2-184b-3bf5-8ecc-f10ca7a6563c',
      inAppOwnershipType: 'PURCHASED',
      environment,
      transactionReason: 'PURCHASE',
      storefront: 'USA',
      storefrontId: '143441',
      price: 0,
      currency: 'USD',
      offerType: 1,
      offerDiscountType: 'FREE_TRIAL',
      offerPeriod: 'P1M',
      appTransactionId: expect.any(String),
    });
  });

  it('reads and believes a transaction', async () => {
    const { client, verifier } = official(environment);
    const { signedTransactionInfo = '' } = await client.getTransactionInfo(bought.body.id);
    const transaction = await verifier.verifyAndDecodeTransaction(signedTransactionInfo);
    expect(transaction.expiresDate).toBeGreaterThan(transaction.purchaseDate ?? 0);
  });

  it('reads and believes the status of a subscription', async () => {
    const { client, verifier } = official(environment);
    const { data = [] } = await client.getAllSubscriptionStatuses(bought.body.id);
    const [last] = data[0]?.lastTransactions ?? [];
    expect(last).toMatchObject({ status: 1, originalTransactionId: bought.body.id });
    const renewal = await verifier.verifyAndDecodeRenewalInfo(last?.signedRenewalInfo ?? '');
    const transaction = await verifier.verifyAndDecodeTransaction(last?.signedTransactionInfo ?? '');
    expect(transaction).toMatchObject({ transactionReason: 'RENEWAL', price: 4990 });
    expect(renewal).toMatchObject({
      originalTransactionId: bought.body.id,
      productId: 'monthly',
      autoRenewProductId: 'monthly',
      autoRenewStatus: 1,
      renewalPrice: 4990,
      renewalDate: transaction.expiresDate,
    });
  });

  it('reads and believes everything in the history', async () => {
    const { client, verifier } = official(environment);
    const { signedTransactions = [], hasMore } = await client.getTransactionHistory(
      bought.body.id,
      null,
      {},
      'v2' as never,
    );
    const history = await Promise.all(signedTransactions.map((one) => verifier.verifyAndDecodeTransaction(one)));
    expect(history.map(({ productId, price }) => [productId, price])).toEqual([
      ['monthly', 0],
      ['monthly', 4990],
      ['coins', 14970],
      ['book', 4990],
    ]);
    expect(hasMore).toBe(false);
  });

  it('reads and believes refunds', async () => {
    const { client, verifier } = official(environment);
    const { signedTransactions = [] } = await client.getRefundHistory(bought.body.id, null);
    const [refunded] = await Promise.all(signedTransactions.map((one) => verifier.verifyAndDecodeTransaction(one)));
    expect(refunded).toMatchObject({ productId: 'book', revocationReason: 0, revocationType: 'REFUND_FULL' });
  });

  it('reads and believes the download of the application', async () => {
    const { client, verifier } = official(environment);
    const { signedAppTransactionInfo = '' } = await client.getAppTransactionInfo(bought.body.id);
    const download = await verifier.verifyAndDecodeAppTransaction(signedAppTransactionInfo);
    expect(download).toMatchObject({ receiptType: environment, originalPlatform: 'iOS' });
  });

  it('is told that the other environment knows none of it', async () => {
    const { client } = official(environment === 'Production' ? 'Sandbox' : 'Production');
    await expect(client.getTransactionInfo(bought.body.id)).rejects.toMatchObject({
      httpStatusCode: 404,
      apiError: 4040010,
    });
  });

  it('refuses the same data under another root', async () => {
    const other = await startEmulatorClient();
    const named = environment === 'Production' ? Environment.PRODUCTION : Environment.SANDBOX;
    const verifier = new SignedDataVerifier([other.rootCertificate], false, named, 'com.example.app', 1234567890);
    await other.close();
    const jws = bought.body.validate.transaction.jwsRepresentation;
    await expect(verifier.verifyAndDecodeTransaction(jws)).rejects.toThrow();
  });
});

const program = 'openssl';
const openssl = (...parameters: string[]): string => execFileSync(program, parameters, { stdio: 'pipe' }).toString();
const hasOpenssl = ((): boolean => {
  try {
    return openssl('version').startsWith('OpenSSL');
  } catch {
    return false;
  }
})();

(hasOpenssl ? describe : describe.skip)('OpenSSL, where it is installed', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'receipt-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('believes the receipt under the root of the emulator, and strictly its certificates', async () => {
    const { body } = await user.buy({ applicationUsername: 'bob', form: 'receipt' });
    const root = join(folder, 'root.pem');
    const receipt = join(folder, 'receipt.der');
    writeFileSync(root, pem(user.rootCertificate));
    writeFileSync(receipt, Buffer.from(body.validate.transaction.appStoreReceipt, 'base64'));
    const verify = ['cms', '-verify', '-inform', 'DER', '-in', receipt, '-CAfile', root];
    expect(openssl(...verify, '-no_check_time', '-x509_strict')).toContain('com.example.app');
    expect(openssl(...verify, '-attime', String(Date.parse('2090-01-01') / 1000))).toContain('monthly');
  });
});

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
