import { verify } from 'node:crypto';
import { ServiceError } from '../../errors.ts';
import type { Millis } from '../../purchases/purchase.ts';
import { trustedKey } from './certificate-chain.ts';
import { childrenOf, type Der, expectTag, octetsOf, oidOf, readDer, tags } from './der.ts';
import type { TrustedRoots } from './trusted-roots.ts';

const signedData = '1.2.840.113549.1.7.2';
const digests: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  // Receipts of older devices.
  '1.3.14.3.2.26': 'sha1',
};
const mostCertificates = 8;

/** A PKCS#7 SignedData message, read and not yet verified. */
export interface SignedMessage {
  readonly content: Buffer;
  readonly certificates: readonly Buffer[];
  readonly digest: string;
  readonly signature: Buffer;
  /** Issuer and serial number of the signer's certificate, as they stand in the certificate. */
  readonly signer: Buffer;
}

/** Reads a SignedData message in DER or BER. Throws `InvalidPayload`. */
export function readSignedMessage(bytes: Buffer): SignedMessage {
  const [type, wrapped] = childrenOf(expectTag(readDer(bytes), tags.sequence));
  if (oidOf(type) !== signedData) throw invalid('it is no signed message');
  const [message] = childrenOf(expectTag(wrapped, tags.context0));
  const [, , contentInfo, ...rest] = childrenOf(expectTag(message, tags.sequence));
  const [, content] = childrenOf(expectTag(contentInfo, tags.sequence));
  const certificates = rest.find(({ tag }) => tag === tags.context0);
  const [signerInfo, ...otherSigners] = childrenOf(expectTag(rest.at(-1), tags.set));
  if (otherSigners.length > 0) throw invalid('it has several signers');
  return {
    content: octetsOf(childrenOf(expectTag(content, tags.context0))[0]),
    certificates: childrenOf(expectTag(certificates, tags.context0))
      .slice(0, mostCertificates)
      .map(({ encoded }) => encoded),
    ...readSigner(signerInfo),
  };
}

/**
 * Checks that the holder of a certificate under a trusted root signed the content, its chain valid at that moment. Throws
 * `InvalidPayload`.
 */
export function verifySignedMessage(message: SignedMessage, roots: TrustedRoots, at: Millis): void {
  const named = message.certificates.map((certificate) => ({ certificate, ...namesOf(certificate) }));
  const leaf = named.find(({ issuer, serialNumber }) => Buffer.concat([issuer, serialNumber]).equals(message.signer));
  const intermediate = leaf && named.find(({ subject }) => subject.equals(leaf.issuer));
  if (!intermediate) throw invalid("its signer's certificates are missing");
  const key = trustedKey({ leaf: leaf.certificate, intermediate: intermediate.certificate }, roots, at);
  if (!verify(message.digest, message.content, key, message.signature)) {
    throw invalid('the signature is not of this content');
  }
}

/** A signer with attributes would have signed those instead of the content: receipts have none. */
function readSigner(signerInfo: Der | undefined): Pick<SignedMessage, 'digest' | 'signature' | 'signer'> {
  const [, signer, algorithm, signatureAlgorithm, signature] = childrenOf(expectTag(signerInfo, tags.sequence));
  expectTag(signatureAlgorithm, tags.sequence);
  const digest = digests[oidOf(childrenOf(expectTag(algorithm, tags.sequence))[0])];
  if (!digest) throw invalid('its digest is neither SHA-256 nor SHA-1');
  return { digest, signature: octetsOf(signature), signer: expectTag(signer, tags.sequence).content };
}

function namesOf(certificate: Buffer): { serialNumber: Buffer; issuer: Buffer; subject: Buffer } {
  const [body] = childrenOf(expectTag(readDer(certificate), tags.sequence));
  const [, serialNumber, , issuer, , subject] = childrenOf(expectTag(body, tags.sequence));
  return {
    serialNumber: expectTag(serialNumber, tags.integer).encoded,
    issuer: expectTag(issuer, tags.sequence).encoded,
    subject: expectTag(subject, tags.sequence).encoded,
  };
}

const invalid = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The receipt cannot be accepted: ${reason}.`);
