import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import fc from 'fast-check';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createClock } from '../clock.ts';
import { certificateTime, integer, octetString, oid, sequence, setOf } from '../crypto/der.ts';
import { findDerElement, parseDerElements } from '../crypto/parse-der.ts';
import { createApiClient, createVerifier } from './apple-client.ts';
import { startEmulatorClient, type TestResponse } from './emulator-client.ts';

const client = startBeforeAll(async () => await startEmulatorClient({ clock: createClock(), keys: undefined }));

// Apple's client signs its tokens with the real time. New keys: the checks must accept the keys of every start.

const environments = { Production: Environment.PRODUCTION, Sandbox: Environment.SANDBOX } as const;

const createOfficialClient = (name: keyof typeof environments) => ({
  verifier: createVerifier(client, environments[name]),
  apiClient: createApiClient(client, environments[name]),
});

describe.each(['Production', 'Sandbox'] as const)("Apple's library in %s", (environment) => {
  const order = { applicationUsername: 'alice', sandbox: environment === 'Sandbox', trial: true };
  let purchase: TestResponse;
  beforeAll(async () => {
    purchase = await client.buy(order);
    await client.act(purchase.body.id, 'renew');
    await client.buy({ ...order, trial: false, productId: 'coins', type: 'consumable', quantity: 3 });
    const lost = await client.buy({ ...order, trial: false, productId: 'book', type: 'non consumable' });
    await client.act(lost.body.id, 'refund');
  });

  it('accepts the transaction that a client submits', async () => {
    const { verifier } = createOfficialClient(environment);
    const transaction = await verifier.verifyAndDecodeTransaction(purchase.body.validate.transaction.jwsRepresentation);
    expect(transaction).toMatchObject({
      transactionId: purchase.body.id,
      originalTransactionId: purchase.body.id,
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

  it('accepts a fetched transaction', async () => {
    const { apiClient, verifier } = createOfficialClient(environment);
    const { signedTransactionInfo = '' } = await apiClient.getTransactionInfo(purchase.body.id);
    const transaction = await verifier.verifyAndDecodeTransaction(signedTransactionInfo);
    expect(transaction.expiresDate).toBeGreaterThan(transaction.purchaseDate ?? 0);
  });

  it('accepts the status of a subscription', async () => {
    const { apiClient, verifier } = createOfficialClient(environment);
    const { data = [] } = await apiClient.getAllSubscriptionStatuses(purchase.body.id);
    const [last] = data[0]?.lastTransactions ?? [];
    expect(last).toMatchObject({ status: 1, originalTransactionId: purchase.body.id });
    const renewal = await verifier.verifyAndDecodeRenewalInfo(last?.signedRenewalInfo ?? '');
    const transaction = await verifier.verifyAndDecodeTransaction(last?.signedTransactionInfo ?? '');
    expect(transaction).toMatchObject({ transactionReason: 'RENEWAL', price: 4990 });
    expect(renewal).toMatchObject({
      originalTransactionId: purchase.body.id,
      productId: 'monthly',
      autoRenewProductId: 'monthly',
      autoRenewStatus: 1,
      renewalPrice: 4990,
      renewalDate: transaction.expiresDate,
    });
  });

  it('accepts all transactions of the history', async () => {
    const { apiClient, verifier } = createOfficialClient(environment);
    const { signedTransactions = [], hasMore } = await apiClient.getTransactionHistory(
      purchase.body.id,
      null,
      {},
      'v2' as never,
    );
    const history = await Promise.all(signedTransactions.map((jws) => verifier.verifyAndDecodeTransaction(jws)));
    expect(history.map(({ productId, price }) => [productId, price])).toEqual([
      ['monthly', 0],
      ['monthly', 4990],
      ['coins', 14970],
      ['book', 4990],
    ]);
    expect(hasMore).toBe(false);
  });

  it('accepts refunds', async () => {
    const { apiClient, verifier } = createOfficialClient(environment);
    const { signedTransactions = [] } = await apiClient.getRefundHistory(purchase.body.id, null);
    const [refunded] = await Promise.all(signedTransactions.map((jws) => verifier.verifyAndDecodeTransaction(jws)));
    expect(refunded).toMatchObject({ productId: 'book', revocationReason: 0, revocationType: 'REFUND_FULL' });
  });

  it('accepts the app transaction', async () => {
    const { apiClient, verifier } = createOfficialClient(environment);
    const { signedAppTransactionInfo = '' } = await apiClient.getAppTransactionInfo(purchase.body.id);
    const download = await verifier.verifyAndDecodeAppTransaction(signedAppTransactionInfo);
    expect(download).toMatchObject({ receiptType: environment, originalPlatform: 'iOS' });
  });

  it('receives an error from the other environment', async () => {
    const { apiClient } = createOfficialClient(environment === 'Production' ? 'Sandbox' : 'Production');
    await expect(apiClient.getTransactionInfo(purchase.body.id)).rejects.toMatchObject({
      httpStatusCode: 404,
      apiError: 4040010,
    });
  });

  it('rejects the same data under another root', async () => {
    const secondClient = await startEmulatorClient();
    const named = environment === 'Production' ? Environment.PRODUCTION : Environment.SANDBOX;
    const verifier = new SignedDataVerifier(
      [secondClient.rootCertificate],
      false,
      named,
      'com.example.app',
      1234567890,
    );
    await secondClient.close();
    const jws = purchase.body.validate.transaction.jwsRepresentation;
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

(hasOpenssl ? describe : describe.skip)('OpenSSL (if installed)', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'receipt-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('accepts the receipt and its certificates under the root of the emulator', async () => {
    const { body } = await client.buy({ applicationUsername: 'bob', form: 'receipt' });
    const root = join(folder, 'root.pem');
    const receipt = join(folder, 'receipt.der');
    writeFileSync(root, new X509Certificate(client.rootCertificate).toString());
    writeFileSync(receipt, Buffer.from(body.validate.transaction.appStoreReceipt, 'base64'));
    const verify = ['cms', '-verify', '-inform', 'DER', '-in', receipt, '-CAfile', root];
    expect(openssl(...verify, '-no_check_time', '-x509_strict')).toContain('com.example.app');
    expect(openssl(...verify, '-attime', String(Date.parse('2090-01-01') / 1000))).toContain('monthly');
  });
});

describe('DER encoding', () => {
  it('encodes integers in the shortest form and as non-negative', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 200n }), (value) => {
        const { content } = findDerElement(integer(value), [0]);
        expect(BigInt(`0x${content.toString('hex')}`)).toBe(value);
        expect((content[0] ?? 0) < 0x80).toBe(true);
        expect(content[0] === 0 && content.length > 1 && (content[1] ?? 0) < 0x80).toBe(false);
      }),
    );
  });

  it('parses its own output of any length', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 300 }), (contents) => {
        const encoded = sequence(...contents.map(octetString));
        const read = parseDerElements(findDerElement(encoded, [0]).content).map(
          ({ content }) => new Uint8Array(content),
        );
        expect(read).toEqual(contents);
      }),
      { numRuns: 30 },
    );
  });

  it('encodes a set independently of the order of its elements', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 9 })), (contents) => {
        const members = contents.map(octetString);
        expect(setOf(...members)).toEqual(setOf(...[...members].reverse()));
      }),
    );
  });

  test.each([
    ['1.2.840.113549.1.7.2', '06092a864886f70d010702'],
    ['1.2.840.113635.100.6.11.1', '060a2a864886f76364060b01'],
    ['2.5.4.3', '0603550403'],
  ])('encodes the object identifier %s', (dotted, hex) => {
    expect(oid(dotted).toString('hex')).toBe(hex);
  });

  test.each([
    ['2049-12-31T23:59:59Z', 0x17, '491231235959Z'],
    ['2050-01-01T00:00:00Z', 0x18, '20500101000000Z'],
  ])('encodes the certificate time %s', (time, tag, digits) => {
    const element = findDerElement(certificateTime(new Date(time)), [0]);
    expect({ tag: element.tag, text: element.content.toString() }).toEqual({ tag, text: digits });
  });

  test.each(['30', '3005', '3080020101', '30840fffffff02', '308800ffffffffffffff'])('rejects %s', (hex) => {
    expect(() => parseDerElements(Buffer.from(hex, 'hex'))).toThrow(RangeError);
  });
});
