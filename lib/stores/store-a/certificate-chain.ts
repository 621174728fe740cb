import type { KeyObject } from 'node:crypto';
import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { type Certificate, parseCertificate } from './certificate.ts';
import type { TrustedRoots } from './trusted-roots.ts';

/** Apple's marks: an intermediate of Worldwide Developer Relations, a leaf that signs receipts. Other leaves have none. */
const intermediateOid = '1.2.840.113635.100.6.2.1';
const leafOid = '1.2.840.113635.100.6.11.1';

/** Clocks and rounding may differ by so much at the ends of a certificate's life. */
const skewMs = 60_000;

/** A chain that leads to a trusted root, and the time in which all of its certificates are valid. */
interface VerifiedChain {
  readonly publicKey: KeyObject;
  readonly notBefore: EpochMillis;
  readonly notAfter: EpochMillis;
}

interface Chain {
  readonly leaf: Buffer;
  readonly intermediate: Buffer;
}

/** Apple signs with one or two leaves at a time. */
const maxCachedChains = 32;
const verifiedChains = new Map<string, VerifiedChain>();

/**
 * The key of a leaf certificate that a trusted root vouches for, through the intermediate, at that moment. Throws
 * `InvalidPayload`. A chain is verified once and remembered; its dates are compared every time.
 */
export function verifyCertificateChain(chain: Chain, roots: TrustedRoots, at: EpochMillis): KeyObject {
  const id = `${roots.id} ${chain.leaf.toString('base64')} ${chain.intermediate.toString('base64')}`;
  const verified = verifiedChains.get(id) ?? verifyChain(chain, roots);
  cacheChain(id, verified);
  const isValid = verified.notBefore <= at + skewMs && at - skewMs <= verified.notAfter;
  if (!isValid) throw untrustedError('a certificate is not valid at the time of the signature');
  return verified.publicKey;
}

/** Moves the chain to the young end of the map, and drops the oldest beyond the bound. */
function cacheChain(id: string, verified: VerifiedChain): void {
  verifiedChains.delete(id);
  verifiedChains.set(id, verified);
  const [oldest] = verifiedChains.keys();
  if (verifiedChains.size > maxCachedChains && oldest !== undefined) verifiedChains.delete(oldest);
}

function verifyChain(chain: Chain, roots: TrustedRoots): VerifiedChain {
  const leaf = parseCertificate(chain.leaf);
  const intermediate = parseCertificate(chain.intermediate);
  const root = roots.certificates.find((candidate) => intermediate.isSignedBy(candidate));
  if (!root) throw untrustedError('no trusted root issued the intermediate certificate');
  if (!intermediate.isCertificateAuthority || !leaf.isSignedBy(intermediate))
    throw untrustedError('the chain is broken');
  if (!leaf.extensions.has(leafOid) || !intermediate.extensions.has(intermediateOid)) {
    throw untrustedError('the certificates are not for signing receipts');
  }
  return { publicKey: leaf.publicKey, ...commonValidity([leaf, intermediate, root]) };
}

const commonValidity = (certificates: readonly Certificate[]) => ({
  notBefore: Math.max(...certificates.map(({ notBefore }) => notBefore)),
  notAfter: Math.min(...certificates.map(({ notAfter }) => notAfter)),
});

const untrustedError = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The signature is not Apple's: ${reason}.`);
