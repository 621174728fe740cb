import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  bitString,
  booleanTrue,
  certificateTime,
  explicit,
  implicit,
  integer,
  nullValue,
  octetString,
  oid,
  printableString,
  sequence,
  setOf,
  utf8String,
} from './der.ts';

/** Variable attributes of an X.500 name. */
export interface DistinguishedName {
  readonly commonName: string;
  readonly organizationalUnit: string;
}

/** Certificate authority that signs certificates. */
export interface CertificateAuthority {
  readonly name: DistinguishedName;
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
}

interface CertificateRequest {
  readonly name: DistinguishedName;
  readonly publicKey: KeyObject;
  readonly issuer: CertificateAuthority;
  readonly isAuthority: boolean;
  /** Object identifier of an extension that marks the purpose of the certificate. Its value is NULL. */
  readonly marker?: string;
}

// The emulated clock can be set to any day of this century.
const validFrom = new Date('2000-01-01T00:00:00Z');
const validUntil = new Date('2099-12-31T23:59:59Z');

/** Creates an X.509 certificate in DER. */
export function createCertificate(request: CertificateRequest): Buffer {
  const algorithm = signatureAlgorithm(request.issuer.key);
  const body = sequence(
    explicit(0, integer(2)),
    integer(serialNumber()),
    algorithm.identifier,
    encodeName(request.issuer.name),
    sequence(certificateTime(validFrom), certificateTime(validUntil)),
    encodeName(request.name),
    publicKeyInfo(request.publicKey),
    explicit(3, sequence(...extensions(request))),
  );
  return sequence(body, algorithm.identifier, bitString(sign(algorithm.digest, body, request.issuer.key)));
}

function encodeName(name: DistinguishedName): Buffer {
  const attribute = (type: string, value: Buffer): Buffer => setOf(sequence(oid(type), value));
  return sequence(
    attribute('2.5.4.3', utf8String(name.commonName)),
    attribute('2.5.4.11', utf8String(name.organizationalUnit)),
    attribute('2.5.4.10', utf8String('Claimcheck emulator')),
    attribute('2.5.4.6', printableString('US')),
  );
}

function signatureAlgorithm(key: KeyObject): { digest: string; identifier: Buffer } {
  if (key.asymmetricKeyType === 'rsa') {
    return { digest: 'sha256', identifier: sequence(oid('1.2.840.113549.1.1.11'), nullValue()) };
  }
  return { digest: 'sha384', identifier: sequence(oid('1.2.840.10045.4.3.3')) };
}

function extensions({ publicKey, issuer, isAuthority, marker }: CertificateRequest): Buffer[] {
  const extension = (type: string, value: Buffer): Buffer => sequence(oid(type), octetString(value));
  const critical = (type: string, value: Buffer): Buffer => sequence(oid(type), booleanTrue(), octetString(value));
  return [
    critical('2.5.29.19', isAuthority ? sequence(booleanTrue()) : sequence()),
    critical('2.5.29.15', isAuthority ? bitString(Buffer.from([0x06]), 1) : bitString(Buffer.from([0x80]), 7)),
    extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
    extension('2.5.29.35', sequence(implicit(0, keyIdentifier(issuer.publicKey)))),
    ...(marker === undefined ? [] : [extension(marker, nullValue())]),
  ];
}

const publicKeyInfo = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

const keyIdentifier = (key: KeyObject): Buffer => createHash('sha1').update(publicKeyInfo(key)).digest();

const serialNumber = (): bigint => BigInt(`0x01${randomBytes(8).toString('hex')}`);
