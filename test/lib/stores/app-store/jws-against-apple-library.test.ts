import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildTransactionPayload } from '../../../../testing/apple-payloads.ts';
import { createCertificate, createPki, intermediateOid, leafOid, type Pki } from '../../../../testing/apple-pki.ts';
import { signJws, toX5c } from '../../../../testing/apple-signatures.ts';
import { isAcceptedByApple, isAcceptedByService } from '../../../../testing/apple-verification.ts';
import { sampleRuns } from '../../../../testing/sample.ts';

const apple = createPki();
const root = apple.root.der;
const { intermediate } = apple;
const createLeaf = (details: object): Pki => ({
  ...apple,
  leaf: createCertificate(intermediate, 'ec', { name: 'Leaf', ...details }),
});
const createIntermediate = (details: object): Pki => {
  const certificate = createCertificate(apple.root, 'ec', {
    name: 'Intermediate',
    isAuthority: true,
    marks: [intermediateOid],
    ...details,
  });
  return {
    ...apple,
    intermediate: certificate,
    leaf: createCertificate(certificate, 'ec', { name: 'Leaf', marks: [leafOid] }),
  };
};

const notBefore = new Date('2026-01-01');
const notAfter = new Date('2026-02-01');

/** Valid and invalid chains under the trusted root, and a chain under a root with the same name. */
const chains: Readonly<Record<string, Pki>> = {
  apple,
  'untrusted root with the same name': createPki(),
  'leaf without its extension': createLeaf({}),
  'leaf with the extension of the intermediate': createLeaf({ marks: [intermediateOid] }),
  'intermediate without its extension': createIntermediate({ marks: [] }),
  'intermediate with the extension of the leaf': createIntermediate({ marks: [leafOid] }),
  'intermediate that is not a certificate authority': createIntermediate({ isAuthority: false }),
  'leaf valid for one month': createLeaf({ marks: [leafOid], notBefore, notAfter }),
  'intermediate valid for one month': createIntermediate({ notBefore, notAfter }),
  'leaf issued by the root': {
    ...apple,
    leaf: createCertificate(apple.root, 'ec', { name: 'Leaf', marks: [leafOid] }),
  },
  'leaf of a different issuer': { ...apple, leaf: createPki().leaf },
  'leaf with a longer key': createLeaf({ marks: [leafOid], curve: 'P-384' }),
  'leaf with a secp256k1 key': createLeaf({ marks: [leafOid], curve: 'secp256k1' }),
};

/** Mostly the valid value, sometimes an alternative. */
const mostly = <T>(valid: T, ...alternatives: readonly T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(valid) }, { weight: 3, arbitrary: fc.constantFrom(...alternatives) });

const edges = [notBefore, notAfter].flatMap((edge) =>
  [-61, -60, -59, 59, 60, 61].map((seconds) => edge.getTime() + seconds * 1000),
);

const payloads = fc.record(
  {
    signedDate: fc.oneof(fc.constantFrom(...edges), fc.date({ noInvalidDate: true }).map(Number)),
    environment: mostly('Production', 'Sandbox', 'Xcode', 'LocalTesting', 'production'),
    bundleId: mostly('com.example.app', 'com.example.other', 'com.example.app ', ''),
  },
  { requiredKeys: [] },
);

const orders: Readonly<Record<string, (x5c: string[]) => unknown>> = {
  usual: (x5c) => x5c,
  swapped: ([leaf, intermediate, top]) => [intermediate, leaf, top],
  'leaf twice': ([leaf, , top]) => [leaf, leaf, top],
  'without the root': ([leaf, intermediate]) => [leaf, intermediate],
  'root twice': (x5c) => [...x5c, x5c[2]],
  'invalid root': ([leaf, intermediate]) => [leaf, intermediate, 'anything'],
  'leaf encoded twice': ([leaf, intermediate, top]) => [Buffer.from(leaf ?? '').toString('base64'), intermediate, top],
  empty: () => [],
  text: (x5c) => x5c.join(),
  missing: () => undefined,
};

/** Signed tokens, most of them with some invalid property. */
const signedTokens = fc
  .record({
    chain: mostly('apple', ...Object.keys(chains)),
    payload: payloads,
    order: mostly('usual', ...Object.keys(orders)),
    alg: mostly('ES256', 'none', 'HS256', 'ES384', 'RS256', 'es256', ''),
    encoding: mostly('ieee-p1363' as const, 'der' as const),
    key: mostly('leaf' as const, 'intermediate' as const, 'root' as const),
  })
  .map(({ chain, payload, order, alg, encoding, key }) => {
    const pki = chains[chain] ?? apple;
    const x5c = orders[order]?.(toX5c(pki));
    return signJws(buildTransactionPayload(payload), pki, { header: { alg, x5c }, key: pki[key].privateKey, encoding });
  });

const validToken = signJws(buildTransactionPayload(), apple);
const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ '];

/** A valid token with some characters replaced, removed or inserted. */
const damagedTokens = fc
  .array(fc.record({ index: fc.nat(validToken.length), length: fc.nat(2), text: fc.constantFrom('', ...alphabet) }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((edits) =>
    edits.reduce((jws, { index, length, text }) => jws.slice(0, index) + text + jws.slice(index + length), validToken),
  );

/** Signed tokens with one flipped bit in the leaf or intermediate certificate. */
const tokensWithDamagedCertificate = fc
  .record({ position: fc.constantFrom(0, 1), index: fc.nat(), bit: fc.nat(7) })
  .map(({ position, index, bit }) => {
    const x5c = toX5c(apple);
    const der = Buffer.from(x5c[position] ?? '', 'base64');
    der[index % der.length] = (der[index % der.length] ?? 0) ^ (1 << bit);
    x5c[position] = der.toString('base64');
    return signJws(buildTransactionPayload(), apple, { header: { x5c } });
  });

// Creating thousands of chains is slow on a busy machine.
const timeoutMs = 120_000;

describe("verifyTransaction and Apple's library", () => {
  it(
    'agree on signed tokens with and without invalid properties',
    async () => {
      const verdicts = new Set<boolean>();
      // One of 50 is valid otherwise: a sample could lack them.
      const tokens = fc.oneof(
        { weight: 19, arbitrary: signedTokens },
        { weight: 1, arbitrary: fc.constant(validToken) },
      );
      await expectAgreement(tokens, { sample: 200, full: 3_000 }, verdicts);
      expect(verdicts.size).toBe(2);
    },
    timeoutMs,
  );

  it(
    'agree on damaged tokens',
    async () => {
      await expectAgreement(damagedTokens, { sample: 200, full: 3_000 });
    },
    timeoutMs,
  );

  it(
    'agree on tokens with a flipped bit in a certificate',
    async () => {
      await expectAgreement(tokensWithDamagedCertificate, { sample: 150, full: 2_000 });
    },
    timeoutMs,
  );

  it.each(Object.keys(chains))('agree on the chain: %s', async (name) => {
    const payload = { signedDate: Date.parse('2026-01-15') };
    await verifyWithBoth(signJws(buildTransactionPayload(payload), chains[name] ?? apple));
  });

  it.each(edges.map((edge) => new Date(edge).toISOString()))(
    'agree at %s, close to the start or end of a certificate',
    async (date) => {
      for (const chain of [chains['leaf valid for one month'], chains['intermediate valid for one month']]) {
        await verifyWithBoth(signJws(buildTransactionPayload({ signedDate: Date.parse(date) }), chain ?? apple));
      }
    },
  );

  it('accept the token that the other tests damage', async () => {
    expect([isAcceptedByService(validToken, { root }), await isAcceptedByApple(validToken, { root })]).toEqual([
      true,
      true,
    ]);
  });
});

async function expectAgreement(
  tokens: fc.Arbitrary<string>,
  sizes: Parameters<typeof sampleRuns>[0],
  verdicts = new Set<boolean>(),
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(tokens, async (jws) => {
      verdicts.add(await verifyWithBoth(jws));
    }),
    sampleRuns(sizes),
  );
}

async function verifyWithBoth(jws: string): Promise<boolean> {
  const isAccepted = isAcceptedByService(jws, { root });
  expect(isAccepted).toBe(await isAcceptedByApple(jws, { root }));
  return isAccepted;
}
