import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildTransactionPayload } from '../../../../testing/apple-payloads.ts';
import { createCertificate, createPki, intermediateOid, leafOid, type Pki } from '../../../../testing/apple-pki.ts';
import { signJws, toX5c } from '../../../../testing/apple-signatures.ts';
import { isAcceptedByApple, isAcceptedByUs } from '../../../../testing/apple-verification.ts';

const apple = createPki();
const root = apple.root.der;
const { intermediate } = apple;
const issue = (details: object): Pki => ({
  ...apple,
  leaf: createCertificate(intermediate, 'ec', { name: 'Leaf', ...details }),
});
const lineage = (details: object): Pki => {
  const other = createCertificate(apple.root, 'ec', {
    name: 'Intermediate',
    isAuthority: true,
    marks: [intermediateOid],
    ...details,
  });
  return { ...apple, intermediate: other, leaf: createCertificate(other, 'ec', { name: 'Leaf', marks: [leafOid] }) };
};

const notBefore = new Date('2026-01-01');
const notAfter = new Date('2026-02-01');

/** Chains under the trusted root, and some that only look like it. */
const chains: Readonly<Record<string, Pki>> = {
  apple,
  'another root of the same name': createPki(),
  'leaf without its mark': issue({}),
  'leaf with the mark of the intermediate': issue({ marks: [intermediateOid] }),
  'intermediate without its mark': lineage({ marks: [] }),
  'intermediate with the mark of the leaf': lineage({ marks: [leafOid] }),
  'intermediate that is no authority': lineage({ isAuthority: false }),
  'leaf of a month': issue({ marks: [leafOid], notBefore, notAfter }),
  'intermediate of a month': lineage({ notBefore, notAfter }),
  'leaf of the root itself': {
    ...apple,
    leaf: createCertificate(apple.root, 'ec', { name: 'Leaf', marks: [leafOid] }),
  },
  'leaf of another issuer': { ...apple, leaf: createPki().leaf },
  'leaf with a longer key': issue({ marks: [leafOid], curve: 'P-384' }),
  'leaf with a key of another curve': issue({ marks: [leafOid], curve: 'secp256k1' }),
};

const sometimes = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 3, arbitrary: fc.constantFrom(...others) });

const edges = [notBefore, notAfter].flatMap((edge) =>
  [-61, -60, -59, 59, 60, 61].map((seconds) => edge.getTime() + seconds * 1000),
);

const payloads = fc.record(
  {
    signedDate: fc.oneof(fc.constantFrom(...edges), fc.date({ noInvalidDate: true }).map(Number)),
    environment: sometimes('Production', 'Sandbox', 'Xcode', 'LocalTesting', 'production'),
    bundleId: sometimes('com.example.app', 'com.example.other', 'com.example.app ', ''),
  },
  { requiredKeys: [] },
);

const orders: Readonly<Record<string, (x5c: string[]) => unknown>> = {
  usual: (x5c) => x5c,
  swapped: ([leaf, middle, top]) => [middle, leaf, top],
  'leaf twice': ([leaf, , top]) => [leaf, leaf, top],
  'without the root': ([leaf, middle]) => [leaf, middle],
  'root twice': (x5c) => [...x5c, x5c[2]],
  'root of anybody': ([leaf, middle]) => [leaf, middle, 'anything'],
  'leaf encoded twice': ([leaf, middle, top]) => [Buffer.from(leaf ?? '').toString('base64'), middle, top],
  empty: () => [],
  text: (x5c) => x5c.join(),
  missing: () => undefined,
};

/** A token that is signed by the leaf's key, whatever else may be wrong with it. */
const signed = fc
  .record({
    chain: sometimes('apple', ...Object.keys(chains)),
    payload: payloads,
    order: sometimes('usual', ...Object.keys(orders)),
    alg: sometimes('ES256', 'none', 'HS256', 'ES384', 'RS256', 'es256', ''),
    encoding: sometimes('ieee-p1363' as const, 'der' as const),
    key: sometimes('leaf' as const, 'intermediate' as const, 'root' as const),
  })
  .map(({ chain, payload, order, alg, encoding, key }) => {
    const pki = chains[chain] ?? apple;
    const x5c = orders[order]?.(toX5c(pki));
    return signJws(buildTransactionPayload(payload), pki, { header: { alg, x5c }, key: pki[key].privateKey, encoding });
  });

const good = signJws(buildTransactionPayload(), apple);
const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ '];

/** A good token with some characters replaced, left out or put in. */
const damaged = fc
  .array(fc.record({ at: fc.nat(good.length), length: fc.nat(2), text: fc.constantFrom('', ...alphabet) }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((cuts) => cuts.reduce((jws, { at, length, text }) => jws.slice(0, at) + text + jws.slice(at + length), good));

/** A token whose leaf or intermediate certificate has one bit flipped; the token itself is signed again. */
const withFlippedCertificate = fc
  .record({ which: fc.constantFrom(0, 1), at: fc.nat(), bit: fc.nat(7) })
  .map(({ which, at, bit }) => {
    const x5c = toX5c(apple);
    const der = Buffer.from(x5c[which] ?? '', 'base64');
    der[at % der.length] = (der[at % der.length] ?? 0) ^ (1 << bit);
    x5c[which] = der.toString('base64');
    return signJws(buildTransactionPayload(), apple, { header: { x5c } });
  });

// A busy machine takes its time over thousands of chains.
const patience = 120_000;

describe("our verifier and Apple's own", () => {
  it(
    'believe the same of tokens that are signed but otherwise wrong or right',
    async () => {
      const verdicts = new Set<boolean>();
      await agreeOn(signed, 1500, verdicts);
      expect(verdicts.size).toBe(2);
    },
    patience,
  );

  it(
    'believe the same of damaged tokens',
    async () => {
      await agreeOn(damaged, 1500);
    },
    patience,
  );

  it(
    'believe the same of tokens with a flipped bit in a certificate',
    async () => {
      await agreeOn(withFlippedCertificate, 1000);
    },
    patience,
  );

  it.each(Object.keys(chains))('believe the same of each chain: %s', async (name) => {
    const inTime = { signedDate: Date.parse('2026-01-15') };
    await agreeOnOne(signJws(buildTransactionPayload(inTime), chains[name] ?? apple));
  });

  it.each(edges.map((edge) => new Date(edge).toISOString()))(
    'believe the same at %s, near the end of a certificate',
    async (date) => {
      for (const chain of [chains['leaf of a month'], chains['intermediate of a month']]) {
        await agreeOnOne(signJws(buildTransactionPayload({ signedDate: Date.parse(date) }), chain ?? apple));
      }
    },
  );

  it('both believe the token that was damaged', async () => {
    expect([isAcceptedByUs(good, { root }), await isAcceptedByApple(good, { root })]).toEqual([true, true]);
  });
});

async function agreeOn(tokens: fc.Arbitrary<string>, numRuns: number, verdicts = new Set<boolean>()): Promise<void> {
  await fc.assert(
    fc.asyncProperty(tokens, async (jws) => {
      verdicts.add(await agreeOnOne(jws));
    }),
    { numRuns },
  );
}

async function agreeOnOne(jws: string): Promise<boolean> {
  const ours = isAcceptedByUs(jws, { root });
  expect(ours).toBe(await isAcceptedByApple(jws, { root }));
  return ours;
}
