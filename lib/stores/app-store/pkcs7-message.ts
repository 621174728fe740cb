import { verify } from 'node:crypto';
import { ServiceError } from '../../foundation/errors.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { type TrustedRoots, verifyCertificateChain } from './certificate-chain.ts';
import { type DerValue, derTags, expectTag, parseChildren, parseDer, readOctetString, readOid } from './der.ts';

const signedData = '1.2.840.113549.1.7.2';
const digestAlgorithms: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  // Used in older receipts.
  '1.3.14.3.2.26': 'sha1',
};
const maxCertificates = 8;

/**
 * A parsed PKCS#7 SignedData message. It is not verified.
 * @see https://www.rfc-editor.org/rfc/rfc2315
 */
export interface SignedMessage {
  readonly content: Buffer;
  readonly certificates: readonly Buffer[];
  readonly digest: string;
  readonly signature: Buffer;
  /** Encoded issuer and serial number of the signer's certificate. */
  readonly signer: Buffer;
}

/** Parses a SignedData message in DER or BER. Throws `InvalidPayload`. */
export function parseSignedMessage(bytes: Buffer): SignedMessage {
  const [type, wrapper] = parseChildren(expectTag(parseDer(bytes), derTags.sequence));
  if (readOid(type) !== signedData) throw invalidReceiptError('it is not a signed message');
  const [message] = parseChildren(expectTag(wrapper, derTags.context0));
  const [, , contentInfo, ...rest] = parseChildren(expectTag(message, derTags.sequence));
  const [, content] = parseChildren(expectTag(contentInfo, derTags.sequence));
  const certificates = rest.find(({ tag }) => tag === derTags.context0);
  const [signerInfo, ...moreSigners] = parseChildren(expectTag(rest.at(-1), derTags.set));
  if (moreSigners.length > 0) throw invalidReceiptError('it has more than one signer');
  return {
    content: readOctetString(parseChildren(expectTag(content, derTags.context0))[0]),
    certificates: parseChildren(expectTag(certificates, derTags.context0))
      .slice(0, maxCertificates)
      .map(({ encoded }) => encoded),
    ...readSigner(signerInfo),
  };
}

/**
 * Verifies the signature of the content. The signer's certificate chain must end at a trusted root and must have been
 * valid at `signedAt`. Throws `InvalidPayload`.
 */
export function verifySignedMessage(message: SignedMessage, roots: TrustedRoots, signedAt: EpochMillis): void {
  const candidates = message.certificates.map((certificate) => ({ certificate, ...readCertificateNames(certificate) }));
  const leaf = candidates.find(({ issuer, serialNumber }) =>
    Buffer.concat([issuer, serialNumber]).equals(message.signer),
  );
  const intermediate = leaf && candidates.find(({ subject }) => subject.equals(leaf.issuer));
  if (!intermediate) throw invalidReceiptError('certificates of the signer are missing');
  const key = verifyCertificateChain(
    { leaf: leaf.certificate, intermediate: intermediate.certificate },
    roots,
    signedAt,
  );
  if (!verify(message.digest, message.content, key, message.signature)) {
    throw invalidReceiptError('the signature does not match the content');
  }
}

/**
 * Rejects signed attributes: the signature would cover them instead of the content. Apple's receipts do not contain
 * any.
 */
function readSigner(signerInfo: DerValue | undefined): Pick<SignedMessage, 'digest' | 'signature' | 'signer'> {
  const [, signer, algorithm, signatureAlgorithm, signature] = parseChildren(expectTag(signerInfo, derTags.sequence));
  expectTag(signatureAlgorithm, derTags.sequence);
  const digest = digestAlgorithms[readOid(parseChildren(expectTag(algorithm, derTags.sequence))[0])];
  if (!digest) throw invalidReceiptError('the digest is neither SHA-256 nor SHA-1');
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

export const invalidReceiptError = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The receipt is not valid: ${reason}.`);
