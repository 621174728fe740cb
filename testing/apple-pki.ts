import { createHash, generateKeyPairSync, type KeyObject, randomInt, sign } from 'node:crypto';
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
} from '../emulator/crypto/der.ts';
import { createRsaKeyPair } from './run-keys.ts';

/** Marker extension of the leaf certificates that sign App Store payloads. */
export const leafOid = '1.2.840.113635.100.6.11.1';

/** Marker extension of Apple's WWDR intermediate certificates. */
export const intermediateOid = '1.2.840.113635.100.6.2.1';

interface CertificateRequest {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly isAuthority?: boolean;
  /** OIDs of marker extensions. */
  readonly marks?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** A certificate with its private key. */
export interface KeyedCertificate {
  readonly name: string;
  readonly der: Buffer;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Certificate chain of three tiers, as Apple uses. The leaf signs. */
export interface Pki {
  readonly root: KeyedCertificate;
  readonly intermediate: KeyedCertificate;
  readonly leaf: KeyedCertificate;
}

type KeyKind = 'ec' | 'rsa';
type CertificateOptions = Omit<Partial<CertificateRequest>, 'publicKey'> & { readonly curve?: string };

/** Creates new keys and certificates, valid from 2020 to 2040 by default. */
export function createPki(
  options: {
    kind?: KeyKind;
    root?: CertificateOptions;
    intermediate?: CertificateOptions;
    leaf?: CertificateOptions;
  } = {},
): Pki {
  const { kind = 'ec' } = options;
  const root = createRoot(kind, options.root);
  const intermediate = createCertificate(root, kind, {
    name: 'Intermediate',
    isAuthority: true,
    marks: [intermediateOid],
    ...options.intermediate,
  });
  const leaf = createCertificate(intermediate, kind, { name: 'Leaf', marks: [leafOid], ...options.leaf });
  return { root, intermediate, leaf };
}

/** Creates a self-signed certificate. */
function createRoot(kind: KeyKind, options: CertificateOptions = {}): KeyedCertificate {
  const keys = createKeyPair(kind, options.curve);
  const request = { name: 'Root', isAuthority: true, ...options };
  const der = encodeCertificate({ ...request, publicKey: keys.publicKey }, { name: request.name, ...keys });
  return { name: request.name, der, ...keys };
}

/** Creates a certificate that `issuer` signs, even if `issuer` is not a certificate authority. */
export function createCertificate(
  issuer: KeyedCertificate,
  kind: KeyKind,
  options: CertificateOptions & { readonly name: string },
): KeyedCertificate {
  const keys = createKeyPair(kind, options.curve);
  const der = encodeCertificate({ ...options, publicKey: keys.publicKey }, issuer);
  return { name: options.name, der, ...keys };
}

const createKeyPair = (kind: KeyKind, namedCurve = 'P-256') =>
  kind === 'ec' ? generateKeyPairSync('ec', { namedCurve }) : createRsaKeyPair();

function encodeCertificate(request: CertificateRequest, issuer: Omit<KeyedCertificate, 'der'>): Buffer {
  const { notBefore = new Date('2020-01-01'), notAfter = new Date('2040-01-01') } = request;
  const algorithm = encodeSignatureAlgorithm(issuer.privateKey);
  const body = sequence(
    explicit(0, integer(2)),
    integer(randomInt(1, 2 ** 31)),
    algorithm,
    encodeName(issuer.name),
    sequence(certificateTime(notBefore), certificateTime(notAfter)),
    encodeName(request.name),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...encodeExtensions(request, issuer.publicKey))),
  );
  return sequence(body, algorithm, bitString(sign('sha256', body, issuer.privateKey)));
}

function encodeExtensions(
  { isAuthority = false, marks = [], publicKey }: CertificateRequest,
  issuerKey: KeyObject,
): Buffer[] {
  const constraints = isAuthority ? sequence(booleanTrue()) : sequence();
  const keyUsage = isAuthority ? bitString(Buffer.from([0x06]), 1) : bitString(Buffer.from([0x80]), 7);
  return [
    sequence(oid('2.5.29.19'), booleanTrue(), octetString(constraints)),
    sequence(oid('2.5.29.15'), booleanTrue(), octetString(keyUsage)),
    sequence(oid('2.5.29.14'), octetString(octetString(computeKeyIdentifier(publicKey)))),
    sequence(oid('2.5.29.35'), octetString(sequence(implicit(0, computeKeyIdentifier(issuerKey))))),
    ...marks.map((mark) => sequence(oid(mark), octetString(nullValue()))),
  ];
}

const computeKeyIdentifier = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

const encodeSignatureAlgorithm = (key: KeyObject): Buffer =>
  key.asymmetricKeyType === 'rsa'
    ? sequence(oid('1.2.840.113549.1.1.11'), nullValue())
    : sequence(oid('1.2.840.10045.4.3.2'));

const encodeName = (name: string): Buffer =>
  sequence(setOf(sequence(oid('2.5.4.3'), utf8String(name))), setOf(sequence(oid('2.5.4.6'), printableString('US'))));
