import { type KeyObject, X509Certificate } from 'node:crypto';
import { createBoundedMap } from '../../foundation/cache.ts';
import { ServiceError } from '../../foundation/errors.ts';
import { type EpochMillis, minuteMs } from '../../foundation/time.ts';
import { appleIncRoot, appleRootG3 } from './apple-roots.ts';
import { derTags, expectTag, parseChildren, parseDer, readOid } from './der.ts';

/** The parts of an X.509 certificate that a chain verification needs. */
interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly isCertificateAuthority: boolean;
  readonly notBefore: EpochMillis;
  readonly notAfter: EpochMillis;
  /** Object identifiers of the extensions. */
  readonly extensions: ReadonlySet<string>;
  /** SHA-256. */
  readonly fingerprint: string;
  isSignedBy(issuer: Certificate): boolean;
}

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

/** The certificates at which a chain may end. */
export interface TrustedRoots {
  readonly certificates: readonly Certificate[];
  /** Identifies the set of certificates in cache keys. */
  readonly id: string;
}

/**
 * Verified chains, least recently used first. Not a `createCache`: a chain never expires, because its validity is
 * compared with the signing date and not with the current time. Apple uses one or two leaf certificates at a time.
 */
const verifiedChains = new Map<string, VerifiedChain>();
const maxCachedChains = 32;

/**
 * Parsed roots by their DER: parsing takes longer than the verification of a signature. A deployment uses two roots;
 * the emulator adds a third.
 */
const parsedRoots = createBoundedMap<Certificate>(8);

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

/** Returns the trusted roots for JWS. `extraRoots` are DER certificates. */
export const getSignedDataRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots =>
  toTrustedRoots([appleRootG3, ...extraRoots]);

/** Returns the trusted roots for PKCS#7 receipts. `extraRoots` are DER certificates. */
export const getReceiptRoots = (extraRoots: readonly Uint8Array[]): TrustedRoots =>
  toTrustedRoots([appleIncRoot, ...extraRoots]);

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

/** Parses a certificate in DER. Throws `InvalidPayload`, also for PEM. */
function parseCertificate(der: Buffer): Certificate {
  const x509 = parseX509(der);
  return {
    subject: x509.subject,
    issuer: x509.issuer,
    publicKey: x509.publicKey,
    isCertificateAuthority: x509.ca,
    notBefore: Date.parse(x509.validFrom),
    notAfter: Date.parse(x509.validTo),
    extensions: new Set(listExtensionOids(der)),
    fingerprint: x509.fingerprint256,
    isSignedBy: (issuer) => x509.issuer === issuer.subject && x509.verify(issuer.publicKey),
  };
}

function parseX509(der: Buffer): X509Certificate {
  try {
    const x509 = new X509Certificate(der);
    // OpenSSL also accepts PEM and trailing bytes. Then `der` would not be the certificate.
    if (x509.raw.equals(der) && x509.publicKey) return x509;
  } catch (cause) {
    throw unreadableError(cause);
  }
  throw unreadableError();
}

/** Parses the extensions. A byte search would also find an identifier in another part of the certificate. */
function listExtensionOids(der: Buffer): string[] {
  const [body] = parseChildren(expectTag(parseDer(der), derTags.sequence));
  const wrapper = parseChildren(expectTag(body, derTags.sequence)).find(({ tag }) => tag === derTags.context3);
  const [extensions] = wrapper ? parseChildren(wrapper) : [];
  if (!extensions) return [];
  return parseChildren(extensions).map((extension) => readOid(parseChildren(extension)[0]));
}

const unreadableError = (cause?: unknown): ServiceError =>
  new ServiceError('InvalidPayload', 'A certificate of the signature is not valid.', { cause });
