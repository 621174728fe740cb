import { createBoundedMap } from '../../foundation/cache.ts';
import { appleIncRoot, appleRootG3 } from './apple-roots.ts';
import { type Certificate, parseCertificate } from './certificate.ts';

/** The certificates at which a chain may end. */
export interface TrustedRoots {
  readonly certificates: readonly Certificate[];
  /** Identifies the set of certificates in cache keys. */
  readonly id: string;
}

/** Returns the trusted roots for JWS. `extraRoots` are DER certificates. */
export const getSignedDataRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots =>
  toTrustedRoots([appleRootG3, ...extraRoots]);

/** Returns the trusted roots for PKCS#7 receipts. `extraRoots` are DER certificates. */
export const getReceiptRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots =>
  toTrustedRoots([appleIncRoot, ...extraRoots]);

/**
 * Parsed roots by their DER: parsing takes longer than the verification of a signature. A deployment uses two roots;
 * the emulator adds a third.
 */
const parsedRoots = createBoundedMap<Certificate>(8);

function toTrustedRoots(ders: readonly Uint8Array[]): TrustedRoots {
  const certificates = ders.map((der) => parseRoot(Buffer.from(der)));
  return { certificates, id: certificates.map(({ fingerprint }) => fingerprint).join() };
}

function parseRoot(der: Buffer): Certificate {
  const key = der.toString('base64');
  const certificate = parsedRoots.get(key) ?? parseCertificate(der);
  parsedRoots.set(key, certificate);
  return certificate;
}
