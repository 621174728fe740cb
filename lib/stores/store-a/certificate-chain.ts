import type { KeyObject } from 'node:crypto';
import { ServiceError } from '../../errors.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import type { TrustedRoots } from './trusted-roots.ts';

/** Apple's marks: an intermediate of Worldwide Developer Relations, a leaf that signs receipts. Other leaves have none. */
const intermediateMark = '1.2.840.113635.100.6.2.1';
const leafMark = '1.2.840.113635.100.6.11.1';

/** Clocks and rounding may differ by so much at the ends of a certificate's life. */
const skewMs = 60_000;

/** A chain that leads to a trusted root, and the time in which all of its certificates are valid. */
interface VerifiedChain {
  readonly publicKey: KeyObject;
  readonly notBefore: Millis;
  readonly notAfter: Millis;
}

interface Chain {
  readonly leaf: Buffer;
  readonly intermediate: Buffer;
}

/** Apple signs with one or two leaves at a time. */
const mostRemembered = 32;
const remembered = new Map<string, VerifiedChain>();

/**
 * The key of a leaf certificate that a trusted root vouches for, through the intermediate, at that moment. Throws
 * `InvalidPayload`. A chain is verified once and remembered; its dates are compared every time.
 */
export function trustedKey(chain: Chain, roots: TrustedRoots, at: Millis): KeyObject {
  const id = `${roots.id} ${chain.leaf.toString('base64')} ${chain.intermediate.toString('base64')}`;
  const verified = remembered.get(id) ?? verify(chain, roots);
  remember(id, verified);
  const isValid = verified.notBefore <= at + skewMs && at - skewMs <= verified.notAfter;
  if (!isValid) throw untrusted('a certificate is not valid at the time of the signature');
  return verified.publicKey;
}

/** Moves the chain to the young end of the map, and drops the oldest beyond the bound. */
function remember(id: string, verified: VerifiedChain): void {
  remembered.delete(id);
  remembered.set(id, verified);
  const [oldest] = remembered.keys();
  if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest);
}

function verify(chain: Chain, roots: TrustedRoots): VerifiedChain {
  const leaf = readCertificate(chain.leaf);
  const intermediate = readCertificate(chain.intermediate);
  const root = roots.certificates.find((candidate) => intermediate.isSignedBy(candidate));
  if (!root) throw untrusted('no trusted root issued the intermediate certificate');
  if (!intermediate.isAuthority || !leaf.isSignedBy(intermediate)) throw untrusted('the chain is broken');
  if (!leaf.extensions.has(leafMark) || !intermediate.extensions.has(intermediateMark)) {
    throw untrusted('the certificates are not for signing receipts');
  }
  return { publicKey: leaf.publicKey, ...commonValidity([leaf, intermediate, root]) };
}

const commonValidity = (certificates: readonly Certificate[]) => ({
  notBefore: Math.max(...certificates.map(({ notBefore }) => notBefore)),
  notAfter: Math.min(...certificates.map(({ notAfter }) => notAfter)),
});

const untrusted = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The signature is not Apple's: ${reason}.`);
