import { appleIncRoot, appleRootG3 } from './apple-roots.ts';
import { type Certificate, parseCertificate } from './certificate.ts';

/** The certificates that a chain may end at. */
export interface TrustedRoots {
  readonly certificates: readonly Certificate[];
  /** Tells one set from another. */
  readonly id: string;
}

/** The roots of signed data (JWS): Apple Root CA - G3 and the extra ones. */
export const getSignedDataRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots =>
  toTrustedRoots([appleRootG3, ...extraRoots]);

/** The roots of PKCS#7 receipts: Apple Inc. Root and the extra ones. */
export const getReceiptRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots =>
  toTrustedRoots([appleIncRoot, ...extraRoots]);

// Reading a certificate costs more than checking a signature; a service meets two or three roots in its life.
const parsedCertificates = new Map<string, Certificate>();

function toTrustedRoots(ders: readonly Uint8Array[]): TrustedRoots {
  const certificates = ders.map((der) => {
    const key = Buffer.from(der).toString('base64');
    const certificate = parsedCertificates.get(key) ?? parseCertificate(Buffer.from(der));
    parsedCertificates.set(key, certificate);
    return certificate;
  });
  return { certificates, id: certificates.map(({ fingerprint }) => fingerprint).join() };
}
