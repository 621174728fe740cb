import { type KeyObject, X509Certificate } from 'node:crypto';
import { ServiceError } from '../../shared/errors.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { derTags, expectTag, parseChildren, parseDer, readOid } from './der.ts';

/** An X.509 certificate, as much of it as a chain is judged by. */
export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly isCertificateAuthority: boolean;
  readonly notBefore: EpochMillis;
  readonly notAfter: EpochMillis;
  /** The object identifiers of its extensions. */
  readonly extensions: ReadonlySet<string>;
  readonly fingerprint: string;
  isSignedBy(issuer: Certificate): boolean;
}

/** Reads a certificate in DER, and nothing but DER. Throws `InvalidPayload`. */
export function parseCertificate(der: Buffer): Certificate {
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
    // OpenSSL also takes PEM and trailing bytes; then the bytes would not be the certificate.
    if (x509.raw.equals(der) && x509.publicKey) return x509;
  } catch (cause) {
    throw unreadableError(cause);
  }
  throw unreadableError();
}

/** Parsed and not searched for: the bytes of an identifier may stand anywhere in a certificate. */
function listExtensionOids(der: Buffer): string[] {
  const [body] = parseChildren(expectTag(parseDer(der), derTags.sequence));
  const wrapped = parseChildren(expectTag(body, derTags.sequence)).find(({ tag }) => tag === derTags.context3);
  const [extensions] = wrapped ? parseChildren(wrapped) : [];
  if (!extensions) return [];
  return parseChildren(extensions).map((extension) => readOid(parseChildren(extension)[0]));
}

const unreadableError = (cause?: unknown): ServiceError =>
  new ServiceError('InvalidPayload', 'A certificate of the signature cannot be read.', { cause });
