import { describe, expect, it } from '@jest/globals';
import { trustedKey } from '../../../../lib/stores/store-a/certificate-chain.ts';
import { signedDataRoots } from '../../../../lib/stores/store-a/trusted-roots.ts';
import { leafMark, mintPki, mintUnder } from '../../../support/apple-pki.ts';

const valid = Date.parse('2026-01-15');
const apple = mintPki({ leaf: { notBefore: new Date('2026-01-01'), notAfter: new Date('2026-02-01') } });
const chain = { leaf: apple.leaf.der, intermediate: apple.intermediate.der };
const roots = signedDataRoots([apple.root.der]);

describe('a chain that was verified before', () => {
  it('gives the same key again', () => {
    const key = trustedKey(chain, roots, valid);
    expect(trustedKey({ ...chain }, roots, valid)).toBe(key);
    expect(key.equals(apple.leaf.publicKey)).toBe(true);
  });

  it('is not believed outside of the validity of its certificates', () => {
    trustedKey(chain, roots, valid);
    for (const date of ['2025-12-31T23:58:00Z', '2026-02-01T00:02:00Z']) {
      expect(() => trustedKey(chain, roots, Date.parse(date))).toThrow('not valid at the time');
    }
  });

  it('is not believed where its root is not trusted', () => {
    trustedKey(chain, roots, valid);
    expect(() => trustedKey(chain, signedDataRoots([]), valid)).toThrow('no trusted root');
    expect(() => trustedKey(chain, signedDataRoots([mintPki().root.der]), valid)).toThrow('no trusted root');
  });

  it('does not vouch for the same leaf under another intermediate', () => {
    trustedKey(chain, roots, valid);
    expect(() => trustedKey({ ...chain, intermediate: mintPki().intermediate.der }, roots, valid)).toThrow();
  });

  it('is forgotten for newer ones, and verified again', () => {
    const key = trustedKey(chain, roots, valid);
    for (let index = 0; index < 40; index++) {
      const leaf = mintUnder(apple.intermediate, 'ec', { name: 'Leaf', marks: [leafMark] }).der;
      trustedKey({ ...chain, leaf }, roots, valid);
    }
    const again = trustedKey(chain, roots, valid);
    expect(again).not.toBe(key);
    expect(again.equals(key)).toBe(true);
  });
});
