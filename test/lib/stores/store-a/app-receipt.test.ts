import { describe, expect, it } from '@jest/globals';
import { explicit, octetString, sequence, setOf } from '../../../../emulator/crypto/der.ts';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { verifyAppReceipt } from '../../../../lib/stores/store-a/app-receipt.ts';
import { bundleId, dayMs, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createCertificate, createPki, intermediateOid, leafOid, type Pki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, type ReceiptFields, signMessage } from '../../../../testing/apple-signatures.ts';
import { createVerificationContext } from '../../../../testing/apple-verification.ts';

const apple = createPki({ kind: 'rsa' });
const trust = createVerificationContext({ root: apple.root.der });

const purchase: ReceiptFields = {
  1701: 2,
  1702: 'monthly',
  1703: '1002',
  1704: new Date(purchaseDate + dayMs),
  1705: '1001',
  1706: new Date(purchaseDate),
  1708: new Date(purchaseDate + 31 * dayMs),
  1711: 999_000_111,
  1712: '',
  1713: 1,
  1719: 0,
  1721: '',
};

const fields: ReceiptFields = {
  0: 'Production',
  2: bundleId,
  3: '2.4',
  12: new Date(purchaseDate + 2 * dayMs),
  17: [purchase],
  18: new Date(purchaseDate - 90 * dayMs),
  19: '1.2',
};

type Details = Parameters<typeof createPki>[0];

/** Another chain under the same root. */
function under({ intermediate = {}, leaf = {} }: NonNullable<Details>): Pki {
  const middle = createCertificate(apple.root, 'ec', {
    name: 'Middle',
    isAuthority: true,
    marks: [intermediateOid],
    ...intermediate,
  });
  return {
    ...apple,
    intermediate: middle,
    leaf: createCertificate(middle, 'ec', { name: 'Leaf', marks: [leafOid], ...leaf }),
  };
}

const receipt = (pki: Pki = apple, changes: Parameters<typeof signMessage>[2] = {}, content: ReceiptFields = fields) =>
  signMessage(encodeReceipt(content), pki, changes);

const read = (message: Buffer, trusted = trust) => verifyAppReceipt(message.toString('base64'), trusted);

/** The same in BER: an octet string of indefinite length, cut into pieces. */
function inPieces(content: Buffer): Buffer {
  const middle = Math.floor(content.length / 2);
  const pieces = [content.subarray(0, middle), content.subarray(middle)].map(octetString);
  return Buffer.concat([Buffer.from([0x24, 0x80]), ...pieces, Buffer.from([0, 0])]);
}

describe('a receipt file', () => {
  it('is shown in the words of verifyReceipt', () => {
    expect(read(receipt())).toEqual({
      bundleId,
      environment: 'Production',
      createdAt: purchaseDate + 2 * dayMs,
      record: {
        receipt_type: 'Production',
        bundle_id: bundleId,
        application_version: '2.4',
        original_application_version: '1.2',
        receipt_creation_date: '2026-03-03 10:00:00 Etc/GMT',
        receipt_creation_date_ms: String(purchaseDate + 2 * dayMs),
        original_purchase_date: '2025-12-01 10:00:00 Etc/GMT',
        original_purchase_date_ms: String(purchaseDate - 90 * dayMs),
        in_app: [
          {
            quantity: '2',
            product_id: 'monthly',
            transaction_id: '1002',
            original_transaction_id: '1001',
            purchase_date: '2026-03-02 10:00:00 Etc/GMT',
            purchase_date_ms: String(purchaseDate + dayMs),
            original_purchase_date: '2026-03-01 10:00:00 Etc/GMT',
            original_purchase_date_ms: String(purchaseDate),
            expires_date: '2026-04-01 10:00:00 Etc/GMT',
            expires_date_ms: String(purchaseDate + 31 * dayMs),
            web_order_line_item_id: '999000111',
            is_trial_period: 'true',
            is_in_intro_offer_period: 'false',
          },
        ],
      },
    });
  });

  it.each([
    ['in BER with the content in pieces', { wrap: inPieces }],
    ['with a SHA-1 digest', { digest: 'sha1' }],
  ] as const)('%s says the same', (_title, changes) => {
    expect(read(receipt(apple, changes))).toEqual(read(receipt()));
  });

  it('may hold no purchases', () => {
    const { 17: _purchases, ...empty } = fields;
    expect(read(receipt(apple, {}, empty)).receipt.in_app).toEqual([]);
  });

  it.each([
    ['Production', 'Production'],
    ['ProductionVPP', 'Production'],
    ['ProductionSandbox', 'Sandbox'],
    ['ProductionVPPSandbox', 'Sandbox'],
  ])('of type %s comes from %s', (receiptType, environment) => {
    expect(read(receipt(apple, {}, { ...fields, 0: receiptType })).environment).toBe(environment);
  });

  it('of hundreds of purchases is read whole', () => {
    const many = Array.from({ length: 400 }, (_, index) => ({ ...purchase, 1703: String(index) }));
    expect(read(receipt(apple, {}, { ...fields, 17: many })).receipt.in_app).toHaveLength(400);
  });

  it.each<readonly [string, () => Buffer, string]>([
    ['of another application', () => receipt(apple, {}, { ...fields, 2: 'com.example.other' }), 'another application'],
    ['of Xcode', () => receipt(apple, {}, { ...fields, 0: 'Xcode' }), 'no store issues Xcode receipts'],
    ['without a date', () => receipt(apple, {}, { ...fields, 12: '' }), 'names no date'],
    ['with an MD5 digest', () => receipt(apple, { digest: 'md5' }), 'neither SHA-256 nor SHA-1'],
    ['with signed attributes', () => receipt(apple, { attributes: setOf() }), 'not well-formed'],
    ['without certificates', () => receipt(apple, { certificates: [] }), 'certificates are missing'],
    ['without the intermediate', () => receipt(apple, { certificates: [apple.leaf.der] }), 'certificates are missing'],
    ['of another root', () => receipt(createPki()), 'no trusted root'],
    ['of a leaf without its mark', () => receipt(under({ leaf: { marks: [] } })), 'not for signing receipts'],
    [
      'of an intermediate without its mark',
      () => receipt(under({ intermediate: { marks: [leafOid] } })),
      'not for signing',
    ],
    [
      'of an intermediate that is no authority',
      () => receipt(under({ intermediate: { isAuthority: false } })),
      'broken',
    ],
    [
      'created after its leaf had expired',
      () => receipt(under({ leaf: { notAfter: new Date('2026-03-01') } })),
      'not valid',
    ],
    [
      'created before its leaf was valid',
      () => receipt(under({ leaf: { notBefore: new Date('2026-04-01') } })),
      'not valid',
    ],
    ['that is no signed message', () => sequence(explicit(0, octetString(Buffer.from('x')))), 'not well-formed'],
  ])('%s is refused', (_title, message, reason) => {
    expect(() => read(message())).toThrow(reason);
  });

  it('with any one bit changed is refused or says the very same', () => {
    const message = receipt();
    const original = read(message);
    let refused = 0;
    for (let at = 0; at < message.length; at += 5) {
      const changed = Buffer.from(message);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      try {
        expect(read(changed)).toEqual(original);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        refused += 1;
      }
    }
    // The certificate of the root and some labels do not matter.
    expect(refused).toBeGreaterThan(message.length / 5 / 2);
  });

  it('whose leaf has expired since is as good as on the day that it was made', () => {
    const message = receipt(under({ leaf: { notAfter: new Date('2026-04-01') } }));
    const trusted = createVerificationContext({ root: apple.root.der, now: Date.parse('2035-01-01') });
    expect(read(message, trusted).createdAt).toBe(purchaseDate + 2 * dayMs);
  });
});
