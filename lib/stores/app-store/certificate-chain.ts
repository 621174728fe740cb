import type { KeyObject } from 'node:crypto';
import { createBoundedMap } from '../../foundation/cache.ts';
import { ServiceError } from '../../foundation/errors.ts';
import { type EpochMillis, minuteMs } from '../../foundation/time.ts';
import { appleIncRoot, appleRootG3 } from './apple-roots.ts';
import { type Certificate, parseCertificate } from './certificate.ts';

/**
 * Apple's extensions for intermediate certificates of Worldwide Developer Relations and for leaf certificates that sign
 * receipts. Apple issues other leaf certificates under the same root, for example to developers.
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsdecodedheader
 */
const intermediateOid = '1.2.840.113635.100.6.2.1';
const leafOid = '1.2.840.113635.100.6.11.1';

/** Tolerance for clock differences at the start and the end of the validity. Apple's library uses the same value. */
const skewMs = minuteMs;

interface VerifiedChain {
  readonly publicKey: KeyObject;
  /** The period in which all certificates of the chain are valid. */
  readonly notBefore: EpochMillis;
  readonly notAfter: EpochMillis;
}

/** Certificates in DER. */
interface Chain {
  readonly leaf: Buffer;
  readonly intermediate: Buffer;
}

/**
 * Verified chains, least recently used first. Not a `createCache`: a chain never expires, because its validity is
 * compared with the signing date and not with the current time. Apple uses one or two leaf certificates at a time.
 */
const verifiedChains = new Map<string, VerifiedChain>();
const maxCachedChains = 32;

/**
 * Verifies that the chain ends at a trusted root and was valid at `signedAt`. Returns the public key of the leaf
 * certificate. Throws `InvalidPayload`.
 */
export function verifyCertificateChain(chain: Chain, roots: TrustedRoots, signedAt: EpochMillis): KeyObject {
  const id = `${roots.id} ${chain.leaf.toString('base64')} ${chain.intermediate.toString('base64')}`;
  const verified = verifiedChains.get(id) ?? verifyChain(chain, roots);
  cacheChain(id, verified);
  const isValid = verified.notBefore <= signedAt + skewMs && signedAt - skewMs <= verified.notAfter;
  if (!isValid) throw untrustedError('a certificate was not valid at the signing date');
  return verified.publicKey;
}

function cacheChain(id: string, verified: VerifiedChain): void {
  verifiedChains.delete(id);
  verifiedChains.set(id, verified);
  const [leastRecentlyUsed] = verifiedChains.keys();
  if (verifiedChains.size > maxCachedChains && leastRecentlyUsed !== undefined)
    verifiedChains.delete(leastRecentlyUsed);
}

function verifyChain(chain: Chain, roots: TrustedRoots): VerifiedChain {
  const leaf = parseCertificate(chain.leaf);
  const intermediate = parseCertificate(chain.intermediate);
  const root = roots.certificates.find((candidate) => intermediate.isSignedBy(candidate));
  if (!root) throw untrustedError('the intermediate certificate is not issued by a trusted root');
  if (!intermediate.isCertificateAuthority || !leaf.isSignedBy(intermediate))
    throw untrustedError('the certificate chain is broken');
  if (!leaf.extensions.has(leafOid) || !intermediate.extensions.has(intermediateOid)) {
    throw untrustedError('the certificates are not for signing receipts');
  }
  return { publicKey: leaf.publicKey, ...intersectValidity([leaf, intermediate, root]) };
}

const intersectValidity = (certificates: readonly Certificate[]) => ({
  notBefore: Math.max(...certificates.map(({ notBefore }) => notBefore)),
  notAfter: Math.min(...certificates.map(({ notAfter }) => notAfter)),
});

const untrustedError = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The signature is not from Apple: ${reason}.`);

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
