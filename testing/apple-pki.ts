import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  bitString,
  booleanTrue,
  certificateTime,
  explicit,
  integer,
  nullValue,
  octetString,
  oid,
  printableString,
  sequence,
  setOf,
  utf8String,
} from '../emulator/crypto/der.ts';

export const leafOid = '1.2.840.113635.100.6.11.1';
export const intermediateOid = '1.2.840.113635.100.6.2.1';

/** What may differ from the certificates that Apple would issue. */
interface Request {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly isAuthority?: boolean;
  readonly marks?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** A certificate with its key. */
export interface KeyedCertificate {
  readonly name: string;
  readonly der: Buffer;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Three tiers as Apple has them: a root, an intermediate, and the leaf that signs. */
export interface Pki {
  readonly root: KeyedCertificate;
  readonly intermediate: KeyedCertificate;
  readonly leaf: KeyedCertificate;
}

type Kind = 'ec' | 'rsa';
type Details = Omit<Partial<Request>, 'publicKey'> & { readonly curve?: string };

/** New keys and certificates, valid from 2020 to 2040 unless told otherwise. */
export function createPki(details: { kind?: Kind; root?: Details; intermediate?: Details; leaf?: Details } = {}): Pki {
  const { kind = 'ec' } = details;
  const root = mintRoot(kind, details.root);
  const intermediate = createCertificate(root, kind, {
    name: 'Intermediate',
    isAuthority: true,
    marks: [intermediateOid],
    ...details.intermediate,
  });
  const leaf = createCertificate(intermediate, kind, { name: 'Leaf', marks: [leafOid], ...details.leaf });
  return { root, intermediate, leaf };
}

/** A root that issued itself. */
function mintRoot(kind: Kind = 'ec', details: Details = {}): KeyedCertificate {
  const keys = keyPair(kind, details.curve);
  const request = { name: 'Root', isAuthority: true, ...details };
  const der = mint({ ...request, publicKey: keys.publicKey }, { name: request.name, privateKey: keys.privateKey });
  return { name: request.name, der, ...keys };
}

/** A certificate that `issuer` signed, whether it may or not. */
export function createCertificate(
  issuer: KeyedCertificate,
  kind: Kind,
  details: Details & { readonly name: string },
): KeyedCertificate {
  const keys = keyPair(kind, details.curve);
  return { name: details.name, der: mint({ ...details, publicKey: keys.publicKey }, issuer), ...keys };
}

const keyPair = (kind: Kind, namedCurve = 'P-256') =>
  kind === 'ec' ? generateKeyPairSync('ec', { namedCurve }) : generateKeyPairSync('rsa', { modulusLength: 2048 });

let serialNumber = 1000;

function mint(request: Request, issuer: Pick<KeyedCertificate, 'name' | 'privateKey'>): Buffer {
  const { notBefore = new Date('2020-01-01'), notAfter = new Date('2040-01-01') } = request;
  const algorithm = signatureAlgorithm(issuer.privateKey);
  serialNumber += 1;
  const body = sequence(
    explicit(0, integer(2)),
    integer(serialNumber),
    algorithm,
    encodedName(issuer.name),
    sequence(certificateTime(notBefore), certificateTime(notAfter)),
    encodedName(request.name),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions(request))),
  );
  return sequence(body, algorithm, bitString(sign('sha256', body, issuer.privateKey)));
}

function extensions({ isAuthority = false, marks = [] }: Request): Buffer[] {
  const constraints = isAuthority ? sequence(booleanTrue()) : sequence();
  return [
    sequence(oid('2.5.29.19'), booleanTrue(), octetString(constraints)),
    ...marks.map((mark) => sequence(oid(mark), octetString(nullValue()))),
  ];
}

const signatureAlgorithm = (key: KeyObject): Buffer =>
  key.asymmetricKeyType === 'rsa'
    ? sequence(oid('1.2.840.113549.1.1.11'), nullValue())
    : sequence(oid('1.2.840.10045.4.3.2'));

const encodedName = (name: string): Buffer =>
  sequence(setOf(sequence(oid('2.5.4.3'), utf8String(name))), setOf(sequence(oid('2.5.4.6'), printableString('US'))));
