import { verify } from 'node:crypto';
import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { verifyCertificateChain } from './certificate-chain.ts';
import { type DerValue, derTags, expectTag, parseChildren, parseDer, readOctetString, readOid } from './der.ts';
import type { TrustedRoots } from './trusted-roots.ts';

const signedData = '1.2.840.113549.1.7.2';
const digests: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  // Receipts of older devices.
  '1.3.14.3.2.26': 'sha1',
};
const maxCertificates = 8;

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
export function parseSignedMessage(bytes: Buffer): SignedMessage {
  const [type, wrapped] = parseChildren(expectTag(parseDer(bytes), derTags.sequence));
  if (readOid(type) !== signedData) throw invalidReceiptError('it is no signed message');
  const [message] = parseChildren(expectTag(wrapped, derTags.context0));
  const [, , contentInfo, ...rest] = parseChildren(expectTag(message, derTags.sequence));
  const [, content] = parseChildren(expectTag(contentInfo, derTags.sequence));
  const certificates = rest.find(({ tag }) => tag === derTags.context0);
  const [signerInfo, ...otherSigners] = parseChildren(expectTag(rest.at(-1), derTags.set));
  if (otherSigners.length > 0) throw invalidReceiptError('it has several signers');
  return {
    content: readOctetString(parseChildren(expectTag(content, derTags.context0))[0]),
    certificates: parseChildren(expectTag(certificates, derTags.context0))
      .slice(0, maxCertificates)
      .map(({ encoded }) => encoded),
    ...readSigner(signerInfo),
  };
}

/**
 * Checks that the holder of a certificate under a trusted root signed the content, its chain valid at that moment. Throws
 * `InvalidPayload`.
 */
export function verifySignedMessage(message: SignedMessage, roots: TrustedRoots, at: EpochMillis): void {
  const named = message.certificates.map((certificate) => ({ certificate, ...readCertificateNames(certificate) }));
  const leaf = named.find(({ issuer, serialNumber }) => Buffer.concat([issuer, serialNumber]).equals(message.signer));
  const intermediate = leaf && named.find(({ subject }) => subject.equals(leaf.issuer));
  if (!intermediate) throw invalidReceiptError("its signer's certificates are missing");
  const key = verifyCertificateChain({ leaf: leaf.certificate, intermediate: intermediate.certificate }, roots, at);
  if (!verify(message.digest, message.content, key, message.signature)) {
    throw invalidReceiptError('the signature is not of this content');
  }
}

/** A signer with attributes would have signed those instead of the content: receipts have none. */
function readSigner(signerInfo: DerValue | undefined): Pick<SignedMessage, 'digest' | 'signature' | 'signer'> {
  const [, signer, algorithm, signatureAlgorithm, signature] = parseChildren(expectTag(signerInfo, derTags.sequence));
  expectTag(signatureAlgorithm, derTags.sequence);
  const digest = digests[readOid(parseChildren(expectTag(algorithm, derTags.sequence))[0])];
  if (!digest) throw invalidReceiptError('its digest is neither SHA-256 nor SHA-1');
  return { digest, signature: readOctetString(signature), signer: expectTag(signer, derTags.sequence).content };
}

function readCertificateNames(certificate: Buffer): { serialNumber: Buffer; issuer: Buffer; subject: Buffer } {
  const [body] = parseChildren(expectTag(parseDer(certificate), derTags.sequence));
  const [, serialNumber, , issuer, , subject] = parseChildren(expectTag(body, derTags.sequence));
  return {
    serialNumber: expectTag(serialNumber, derTags.integer).encoded,
    issuer: expectTag(issuer, derTags.sequence).encoded,
    subject: expectTag(subject, derTags.sequence).encoded,
  };
}

const invalidReceiptError = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The receipt cannot be accepted: ${reason}.`);
