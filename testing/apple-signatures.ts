import { type KeyObject, sign } from 'node:crypto';
import {
  explicit,
  ia5String,
  integer,
  nullValue,
  octetString,
  oid,
  sequence,
  setOf,
  utf8String,
} from '../emulator/crypto/der.ts';
import { findDerElement } from '../emulator/crypto/parse-der.ts';
import type { Pki } from './apple-pki.ts';

/** Converts a chain into the `x5c` header of a JWS, leaf first. */
export const toX5c = ({ leaf, intermediate, root }: Pki): string[] =>
  [leaf, intermediate, root].map(({ der }) => der.toString('base64'));

/** Signs a JWS as Apple does. `changes` make the header or the signature encoding invalid. */
export function signJws(
  payload: object,
  pki: Pki,
  changes: { header?: object; key?: KeyObject; encoding?: 'ieee-p1363' | 'der' } = {},
): string {
  const { key = pki.leaf.privateKey, encoding = 'ieee-p1363' } = changes;
  const content = [{ alg: 'ES256', x5c: toX5c(pki), ...changes.header }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${content}.${sign('sha256', Buffer.from(content), { key, dsaEncoding: encoding }).toString('base64url')}`;
}

/**
 * Attributes of a receipt or of one of its in-app purchases, by attribute type.
 * @see https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html
 */
export type ReceiptFields = Readonly<Record<number, string | number | Date | readonly ReceiptFields[]>>;

/** Encodes the payload of a receipt as an ASN.1 set of attributes. */
export const encodeReceipt = (fields: ReceiptFields): Buffer =>
  setOf(
    ...Object.entries(fields).flatMap(([type, value]) =>
      Array.isArray(value)
        ? value.map((nested: ReceiptFields) => encodeAttribute(Number(type), encodeReceipt(nested)))
        : [encodeAttribute(Number(type), encodeValue(value as string | number | Date))],
    ),
  );

const encodeAttribute = (type: number, value: Buffer): Buffer =>
  sequence(integer(type), integer(1), octetString(value));

function encodeValue(value: string | number | Date): Buffer {
  if (value instanceof Date) return ia5String(value.toISOString().replace(/\.\d+/, ''));
  return typeof value === 'number' ? integer(value) : utf8String(value);
}

const digestIds = { sha256: '2.16.840.1.101.3.4.2.1', sha1: '1.3.14.3.2.26', md5: '1.2.840.113549.2.5' } as const;

interface MessageChanges {
  readonly digest?: keyof typeof digestIds;
  /** DER of the signed attributes; absent in Apple's receipts. */
  readonly attributes?: Buffer;
  /** Encodes the content; BER allows an octet string in parts. */
  readonly wrap?: (content: Buffer) => Buffer;
  readonly certificates?: readonly Buffer[];
}

/** Signs the content as a PKCS#7 message with the leaf of an RSA chain. */
export function signMessage(content: Buffer, pki: Pki, changes: MessageChanges = {}): Buffer {
  const {
    digest = 'sha256',
    wrap = octetString,
    certificates = [pki.leaf, pki.intermediate, pki.root].map(({ der }) => der),
  } = changes;
  const algorithm = sequence(oid(digestIds[digest]), nullValue());
  const signer = sequence(
    integer(1),
    issuerAndSerialNumber(pki.leaf.der),
    algorithm,
    ...(changes.attributes ? [explicit(0, changes.attributes)] : []),
    sequence(oid('1.2.840.113549.1.1.1'), nullValue()),
    octetString(sign(digest, content, pki.leaf.privateKey)),
  );
  const body = sequence(
    integer(1),
    setOf(algorithm),
    sequence(oid('1.2.840.113549.1.7.1'), explicit(0, wrap(content))),
    explicit(0, Buffer.concat(certificates)),
    setOf(signer),
  );
  return sequence(oid('1.2.840.113549.1.7.2'), explicit(0, body));
}

function issuerAndSerialNumber(certificate: Buffer): Buffer {
  const body = findDerElement(certificate, [0, 0]).content;
  return sequence(findDerElement(body, [3]).raw, findDerElement(body, [1]).raw);
}
