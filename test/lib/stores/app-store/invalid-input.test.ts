import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import { buildTransactionPayload, bundleId, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, signJws, signMessage } from '../../../../testing/apple-signatures.ts';
import { applePki, createContext } from '../../../../testing/fake-apple.ts';
import { sampleRuns } from '../../../../testing/sample.ts';

const rsa = createPki({ kind: 'rsa' });
const receipt = signMessage(encodeReceipt({ 0: 'Production', 2: bundleId, 12: new Date(purchaseDate) }), rsa);
const jws = signJws(buildTransactionPayload(), applePki);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** Returns the code of the error, or `accepted`. Other errors than `ServiceError` fail the test. */
async function validate(transaction: Record<string, unknown>): Promise<string> {
  const context = createContext({ settings: { bundleId }, extraRoots: [applePki.root.der, rsa.root.der] });
  try {
    await appStore.validate({ id: bundleId, type: 'application', transaction }, context);
    return 'accepted';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

const fields = fc.constantFrom('jwsRepresentation', 'appStoreReceipt', 'transactionReceipt');
const jsonText = fc.json({ maxDepth: 3 }).map(base64url);
const bytes = fc.uint8Array({ maxLength: 600 });

const arbitraries: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'any value': fc.anything({ withBigInt: true, withDate: true }),
  'any text': fc.string({ unit: 'binary', maxLength: 300 }),
  'any bytes in base64': bytes.map(base64),
  'bytes with the start of a receipt': bytes.map((rest) => base64(Buffer.concat([Buffer.from([0x30, 0x82]), rest]))),
  'a truncated receipt': fc.nat(receipt.length - 1).map((length) => base64(receipt.subarray(0, length))),
  'a receipt with replaced bytes': fc
    .tuple(fc.nat(receipt.length - 1), fc.uint8Array({ minLength: 1, maxLength: 30 }))
    .map(([index, replacement]) =>
      base64(Buffer.concat([receipt.subarray(0, index), replacement, receipt.subarray(index + 1)])),
    ),
  'three encoded JSON values': fc.tuple(jsonText, jsonText, jsonText).map((parts) => parts.join('.')),
  'a JWS with any header': fc
    .record({ alg: fc.constant('ES256'), x5c: fc.array(fc.base64String(), { minLength: 3, maxLength: 3 }) })
    .map((header) => [base64url(JSON.stringify(header)), ...jws.split('.').slice(1)].join('.')),
  'a truncated JWS': fc.nat(jws.length - 1).map((length) => jws.slice(0, length)),
};

describe('validate (App Store) with fuzzed evidence', () => {
  it.each(Object.entries(arbitraries))(
    'accepts the evidence or throws InvalidPayload: %s',
    async (_title, evidence) => {
      const runs = sampleRuns({ sample: 60, full: 600 });
      let rejections = 0;
      await fc.assert(
        fc.asyncProperty(fields, evidence, async (field, value) => {
          const outcome = await validate({ [field]: value });
          expect(['InvalidPayload', 'accepted']).toContain(outcome);
          if (outcome === 'InvalidPayload') rejections += 1;
        }),
        runs,
      );
      expect(rejections).toBeGreaterThan(runs.numRuns / 6);
    },
  );

  it.each([
    ['2 MB of zeros', base64(Buffer.alloc(1_500_000))],
    ['2 MB with the start of a receipt', `MII${'A'.repeat(2_000_000)}`],
    ['2 MB of nested values', base64(Buffer.alloc(1_500_000, Buffer.from([0x30, 0x80])))],
    [
      '2 MB of small values',
      base64(
        Buffer.concat([Buffer.from([0x30, 0x83, 0x16, 0xe3, 0x5b]), Buffer.alloc(1_499_995, Buffer.from([5, 0]))]),
      ),
    ],
    ['2 MB of a JWS', `eyJ${'A'.repeat(1_000_000)}.${'A'.repeat(1_000_000)}.AAAA`],
    ['2 MB of nested JSON in a JWS', `${base64url('['.repeat(700_000))}.${base64url('['.repeat(700_000))}.AAAA`],
    ['a JWS header with __proto__', `${base64url('{"__proto__":{"alg":"ES256"}}')}.e30.AAAA`],
  ])('throws InvalidPayload for %s', async (_title, text) => {
    expect(await validate({ appStoreReceipt: text })).toBe('InvalidPayload');
  });
});
