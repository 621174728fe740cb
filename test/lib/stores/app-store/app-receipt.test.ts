import { describe, expect, it } from '@jest/globals';
import { explicit, octetString, sequence, setOf } from '../../../../emulator/crypto/der.ts';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { verifyAppReceipt } from '../../../../lib/stores/app-store/app-receipt.ts';
import { bundleId, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createCertificate, createPki, intermediateOid, leafOid, type Pki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, type ReceiptFields, signMessage } from '../../../../testing/apple-signatures.ts';
import { createVerificationContext } from '../../../../testing/apple-verification.ts';

const apple = createPki({ kind: 'rsa' });
const verification = createVerificationContext({ root: apple.root.der });

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

/** Creates a different chain under the same root. */
function createChain({ intermediate = {}, leaf = {} }: NonNullable<Details>): Pki {
  const certificate = createCertificate(apple.root, 'ec', {
    name: 'Intermediate',
    isAuthority: true,
    marks: [intermediateOid],
    ...intermediate,
  });
  return {
    ...apple,
    intermediate: certificate,
    leaf: createCertificate(certificate, 'ec', { name: 'Leaf', marks: [leafOid], ...leaf }),
  };
}

const buildReceipt = (
  pki: Pki = apple,
  changes: Parameters<typeof signMessage>[2] = {},
  content: ReceiptFields = fields,
) => signMessage(encodeReceipt(content), pki, changes);

const verify = (message: Buffer, context = verification) => verifyAppReceipt(message.toString('base64'), context);

/** Encodes an octet string in BER: with indefinite length and in two parts. */
function encodeInParts(content: Buffer): Buffer {
  const middle = Math.floor(content.length / 2);
  const parts = [content.subarray(0, middle), content.subarray(middle)].map(octetString);
  return Buffer.concat([Buffer.from([0x24, 0x80]), ...parts, Buffer.from([0, 0])]);
}

describe('verifyAppReceipt', () => {
  it('returns the content with the field names of verifyReceipt', () => {
    expect(verify(buildReceipt())).toEqual({
      bundleId,
      environment: 'Production',
      createdAt: purchaseDate + 2 * dayMs,
      receipt: {
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
    ['in BER with the content in two parts', { wrap: encodeInParts }],
    ['with a SHA-1 digest', { digest: 'sha1' }],
  ] as const)('accepts a receipt %s', (_title, changes) => {
    expect(verify(buildReceipt(apple, changes))).toEqual(verify(buildReceipt()));
  });

  it('accepts a receipt without purchases', () => {
    const { 17: _purchases, ...empty } = fields;
    expect(verify(buildReceipt(apple, {}, empty)).receipt.in_app).toEqual([]);
  });

  it.each([
    ['Production', 'Production'],
    ['ProductionVPP', 'Production'],
    ['ProductionSandbox', 'Sandbox'],
    ['ProductionVPPSandbox', 'Sandbox'],
  ])('converts the receipt type %s to the environment %s', (receiptType, environment) => {
    expect(verify(buildReceipt(apple, {}, { ...fields, 0: receiptType })).environment).toBe(environment);
  });

  it('returns all of 400 purchases', () => {
    const many = Array.from({ length: 400 }, (_, index) => ({ ...purchase, 1703: String(index) }));
    expect(verify(buildReceipt(apple, {}, { ...fields, 17: many })).receipt.in_app).toHaveLength(400);
  });

  it.each<readonly [string, () => Buffer, string]>([
    [
      'with the bundle id of another app',
      () => buildReceipt(apple, {}, { ...fields, 2: 'com.example.other' }),
      'another app',
    ],
    ['of type Xcode', () => buildReceipt(apple, {}, { ...fields, 0: 'Xcode' }), 'type Xcode are not accepted'],
    ['without a creation date', () => buildReceipt(apple, {}, { ...fields, 12: '' }), 'creation date is missing'],
    ['with an MD5 digest', () => buildReceipt(apple, { digest: 'md5' }), 'neither SHA-256 nor SHA-1'],
    ['with signed attributes', () => buildReceipt(apple, { attributes: setOf() }), 'not valid DER'],
    ['without certificates', () => buildReceipt(apple, { certificates: [] }), 'certificates of the signer are missing'],
    [
      'without the intermediate',
      () => buildReceipt(apple, { certificates: [apple.leaf.der] }),
      'certificates of the signer are missing',
    ],
    ['under an untrusted root', () => buildReceipt(createPki()), 'not issued by a trusted root'],
    [
      'of a leaf without its extension',
      () => buildReceipt(createChain({ leaf: { marks: [] } })),
      'not for signing receipts',
    ],
    [
      'of an intermediate without its extension',
      () => buildReceipt(createChain({ intermediate: { marks: [leafOid] } })),
      'not for signing',
    ],
    [
      'of an intermediate that is not a certificate authority',
      () => buildReceipt(createChain({ intermediate: { isAuthority: false } })),
      'broken',
    ],
    [
      'created after the expiration of its leaf',
      () => buildReceipt(createChain({ leaf: { notAfter: new Date('2026-03-01') } })),
      'not valid at the signing date',
    ],
    [
      'created before the validity of its leaf',
      () => buildReceipt(createChain({ leaf: { notBefore: new Date('2026-04-01') } })),
      'not valid at the signing date',
    ],
    ['that is not a signed message', () => sequence(explicit(0, octetString(Buffer.from('x')))), 'not valid DER'],
  ])('rejects a receipt %s', (_title, message, reason) => {
    expect(() => verify(message())).toThrow(reason);
  });

  it('rejects a changed bit unless it changes nothing in the result', () => {
    const message = buildReceipt();
    const original = verify(message);
    let rejections = 0;
    for (let index = 0; index < message.length; index += 5) {
      const changed = Buffer.from(message);
      changed[index] = (changed[index] ?? 0) ^ (1 << (index % 8));
      try {
        expect(verify(changed)).toEqual(original);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        rejections += 1;
      }
    }
    // The root certificate and some labels are not evaluated.
    expect(rejections).toBeGreaterThan(message.length / 5 / 2);
  });

  it('accepts a receipt whose leaf has expired since the creation', () => {
    const message = buildReceipt(createChain({ leaf: { notAfter: new Date('2026-04-01') } }));
    const later = createVerificationContext({ root: apple.root.der, now: Date.parse('2035-01-01') });
    expect(verify(message, later).createdAt).toBe(purchaseDate + 2 * dayMs);
  });
});
