import { describe, expect, it } from '@jest/globals';
import { verifyCertificateChain } from '../../../../lib/stores/store-a/certificate-chain.ts';
import { getSignedDataRoots } from '../../../../lib/stores/store-a/trusted-roots.ts';
import { createCertificate, createPki, leafOid } from '../../../../testing/apple-pki.ts';

const valid = Date.parse('2026-01-15');
const apple = createPki({ leaf: { notBefore: new Date('2026-01-01'), notAfter: new Date('2026-02-01') } });
const chain = { leaf: apple.leaf.der, intermediate: apple.intermediate.der };
const roots = getSignedDataRoots([apple.root.der]);

describe('a chain that was verified before', () => {
  it('gives the same key again', () => {
    const key = verifyCertificateChain(chain, roots, valid);
    expect(verifyCertificateChain({ ...chain }, roots, valid)).toBe(key);
    expect(key.equals(apple.leaf.publicKey)).toBe(true);
  });

  it('is not believed outside of the validity of its certificates', () => {
    verifyCertificateChain(chain, roots, valid);
    for (const date of ['2025-12-31T23:58:00Z', '2026-02-01T00:02:00Z']) {
      expect(() => verifyCertificateChain(chain, roots, Date.parse(date))).toThrow('not valid at the time');
    }
  });

  it('is not believed where its root is not trusted', () => {
    verifyCertificateChain(chain, roots, valid);
    expect(() => verifyCertificateChain(chain, getSignedDataRoots([]), valid)).toThrow('no trusted root');
    expect(() => verifyCertificateChain(chain, getSignedDataRoots([createPki().root.der]), valid)).toThrow(
      'no trusted root',
    );
  });

  it('does not vouch for the same leaf under another intermediate', () => {
    verifyCertificateChain(chain, roots, valid);
    expect(() =>
      verifyCertificateChain({ ...chain, intermediate: createPki().intermediate.der }, roots, valid),
    ).toThrow();
  });

  it('is forgotten for newer ones, and verified again', () => {
    const key = verifyCertificateChain(chain, roots, valid);
    for (let index = 0; index < 40; index++) {
      const leaf = createCertificate(apple.intermediate, 'ec', { name: 'Leaf', marks: [leafOid] }).der;
      verifyCertificateChain({ ...chain, leaf }, roots, valid);
    }
    const again = verifyCertificateChain(chain, roots, valid);
    expect(again).not.toBe(key);
    expect(again.equals(key)).toBe(true);
  });
});
