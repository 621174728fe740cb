import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import { buildTransactionPayload, bundleId, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, signJws, signMessage } from '../../../../testing/apple-signatures.ts';
import { applePki, createContext } from '../../../../testing/fake-apple.ts';

const rsa = createPki({ kind: 'rsa' });
const receipt = signMessage(encodeReceipt({ 0: 'Production', 2: bundleId, 12: new Date(purchaseDate) }), rsa);
const jws = signJws(buildTransactionPayload(), applePki);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** What came of sending it: the code of the refusal, or that it was believed. Anything else fails the test. */
async function sent(transaction: Record<string, unknown>): Promise<string> {
  const trusted = createContext({ settings: { bundleId }, extraRoots: [applePki.root.der, rsa.root.der] });
  try {
    await storeA.validate({ id: bundleId, type: 'application', transaction }, trusted);
    return 'believed';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

const fields = fc.constantFrom('jwsRepresentation', 'appStoreReceipt', 'transactionReceipt');
const jsonText = fc.json({ maxDepth: 3 }).map(base64url);
const bytes = fc.uint8Array({ maxLength: 600 });

const junk: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'any value': fc.anything({ withBigInt: true, withDate: true }),
  'any text': fc.string({ unit: 'binary', maxLength: 300 }),
  'any bytes in base64': bytes.map(base64),
  'bytes that begin like a receipt': bytes.map((rest) => base64(Buffer.concat([Buffer.from([0x30, 0x82]), rest]))),
  'a receipt cut off': fc.nat(receipt.length - 1).map((length) => base64(receipt.subarray(0, length))),
  'a receipt with other bytes in it': fc
    .tuple(fc.nat(receipt.length - 1), fc.uint8Array({ minLength: 1, maxLength: 30 }))
    .map(([at, other]) => base64(Buffer.concat([receipt.subarray(0, at), other, receipt.subarray(at + 1)]))),
  'three parts of JSON': fc.tuple(jsonText, jsonText, jsonText).map((parts) => parts.join('.')),
  'a JWS with any header': fc
    .record({ alg: fc.constant('ES256'), x5c: fc.array(fc.base64String(), { minLength: 3, maxLength: 3 }) })
    .map((header) => [base64url(JSON.stringify(header)), ...jws.split('.').slice(1)].join('.')),
  'a JWS cut off': fc.nat(jws.length - 1).map((length) => jws.slice(0, length)),
};

describe('whatever a client sends as evidence', () => {
  it.each(Object.entries(junk))(
    '%s: it is refused as invalid or believed, and nothing breaks',
    async (_title, evidence) => {
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(fields, evidence, async (field, value) => {
          const outcome = await sent({ [field]: value });
          expect(['InvalidPayload', 'believed']).toContain(outcome);
          if (outcome === 'InvalidPayload') refused += 1;
        }),
        { numRuns: 300 },
      );
      expect(refused).toBeGreaterThan(100);
    },
  );

  it.each([
    ['2 MB of zeros', base64(Buffer.alloc(1_500_000))],
    ['2 MB that begin like a receipt', `MII${'A'.repeat(2_000_000)}`],
    ['2 MB that nest', base64(Buffer.alloc(1_500_000, Buffer.from([0x30, 0x80])))],
    [
      '2 MB of small values',
      base64(
        Buffer.concat([Buffer.from([0x30, 0x83, 0x16, 0xe3, 0x5b]), Buffer.alloc(1_499_995, Buffer.from([5, 0]))]),
      ),
    ],
    ['2 MB of a JWS', `eyJ${'A'.repeat(1_000_000)}.${'A'.repeat(1_000_000)}.AAAA`],
    ['2 MB of nesting JSON in a JWS', `${base64url('['.repeat(700_000))}.${base64url('['.repeat(700_000))}.AAAA`],
    ['a prototype', `${base64url('{"__proto__":{"alg":"ES256"}}')}.e30.AAAA`],
  ])('%s: it is refused as invalid', async (_title, text) => {
    expect(await sent({ appStoreReceipt: text })).toBe('InvalidPayload');
  });
});
