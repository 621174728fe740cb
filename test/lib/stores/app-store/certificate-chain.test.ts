import { describe, expect, it } from '@jest/globals';
import { getSignedDataRoots, verifyCertificateChain } from '../../../../lib/stores/app-store/certificate-chain.ts';
import { createCertificate, createPki, leafOid } from '../../../../testing/apple-pki.ts';

const signedAt = Date.parse('2026-01-15');
const apple = createPki({ leaf: { notBefore: new Date('2026-01-01'), notAfter: new Date('2026-02-01') } });
const chain = { leaf: apple.leaf.der, intermediate: apple.intermediate.der };
const roots = getSignedDataRoots([apple.root.der]);

describe('verifyCertificateChain with a cached chain', () => {
  it('returns the cached key', () => {
    const key = verifyCertificateChain(chain, roots, signedAt);
    expect(verifyCertificateChain({ ...chain }, roots, signedAt)).toBe(key);
    expect(key.equals(apple.leaf.publicKey)).toBe(true);
  });

  it('rejects a signing date outside the validity of the certificates', () => {
    verifyCertificateChain(chain, roots, signedAt);
    for (const date of ['2025-12-31T23:58:00Z', '2026-02-01T00:02:00Z']) {
      expect(() => verifyCertificateChain(chain, roots, Date.parse(date))).toThrow('not valid at the signing date');
    }
  });

  it('rejects the chain under other roots', () => {
    verifyCertificateChain(chain, roots, signedAt);
    for (const otherRoots of [getSignedDataRoots([]), getSignedDataRoots([createPki().root.der])]) {
      expect(() => verifyCertificateChain(chain, otherRoots, signedAt)).toThrow('not issued by a trusted root');
    }
  });

  it('rejects the same leaf under another intermediate', () => {
    verifyCertificateChain(chain, roots, signedAt);
    const { der: intermediate } = createPki().intermediate;
    expect(() => verifyCertificateChain({ ...chain, intermediate }, roots, signedAt)).toThrow(
      'not issued by a trusted root',
    );
  });

  it('verifies a chain again after newer chains have replaced it', () => {
    const key = verifyCertificateChain(chain, roots, signedAt);
    for (let index = 0; index < 40; index++) {
      const leaf = createCertificate(apple.intermediate, 'ec', { name: 'Leaf', marks: [leafOid] }).der;
      verifyCertificateChain({ ...chain, leaf }, roots, signedAt);
    }
    const verifiedAgain = verifyCertificateChain(chain, roots, signedAt);
    expect(verifiedAgain).not.toBe(key);
    expect(verifiedAgain.equals(key)).toBe(true);
  });
});
