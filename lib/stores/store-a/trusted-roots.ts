import { appleIncRoot, appleRootG3 } from './apple-roots.ts';
import { type Certificate, readCertificate } from './certificate.ts';

/** The certificates that a chain may end at. */
export interface TrustedRoots {
  readonly certificates: readonly Certificate[];
  /** Tells one set from another. */
  readonly id: string;
}

/** The roots of signed data (JWS): Apple Root CA - G3 and the extra ones. */
export const signedDataRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots =>
  rootsOf([appleRootG3, ...extraRoots]);

/** The roots of PKCS#7 receipts: Apple Inc. Root and the extra ones. */
export const receiptRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots => rootsOf([appleIncRoot, ...extraRoots]);

// Reading a certificate costs more than checking a signature; a service meets two or three roots in its life.
const known = new Map<string, Certificate>();

function rootsOf(ders: readonly Uint8Array[]): TrustedRoots {
  const certificates = ders.map((der) => {
    const key = Buffer.from(der).toString('base64');
    const certificate = known.get(key) ?? readCertificate(Buffer.from(der));
    known.set(key, certificate);
    return certificate;
  });
  return { certificates, id: certificates.map(({ fingerprint }) => fingerprint).join() };
}
