import { type KeyObject, X509Certificate } from 'node:crypto';
import { ServiceError } from '../../foundation/errors.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { derTags, expectTag, parseChildren, parseDer, readOid } from './der.ts';

/** The parts of an X.509 certificate that a chain verification needs. */
export interface Certificate {
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

/** Parses a certificate in DER. Throws `InvalidPayload`, also for PEM. */
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
