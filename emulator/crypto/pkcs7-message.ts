import { sign, verify, X509Certificate } from 'node:crypto';
import { explicit, integer, nullValue, octetString, oid, sequence, setOf } from './der.ts';
import { findDerElement } from './parse-der.ts';

const signedData = '1.2.840.113549.1.7.2';
const plainData = '1.2.840.113549.1.7.1';
const sha256 = '2.16.840.1.101.3.4.2.1';
const rsaEncryption = '1.2.840.113549.1.1.1';

/** RSA key in PEM with its certificate chain in base64, the key's certificate first. */
interface MessageSigner {
  readonly privateKey: string;
  readonly chain: readonly [string, ...string[]];
}

/** Creates a PKCS#7 SignedData in DER: RSA with SHA-256 over the content, without signed attributes. */
export function signMessage({ privateKey, chain }: MessageSigner, content: Buffer): Buffer {
  const [leaf, ...authorities] = chain;
  const algorithm = (id: string): Buffer => sequence(oid(id), nullValue());
  const signerInfo = sequence(
    integer(1),
    issuerAndSerialNumber(decodeDer(leaf)),
    algorithm(sha256),
    algorithm(rsaEncryption),
    octetString(sign('sha256', content, privateKey)),
  );
  const body = sequence(
    integer(1),
    setOf(algorithm(sha256)),
    sequence(oid(plainData), explicit(0, octetString(content))),
    explicit(0, Buffer.concat([leaf, ...authorities].map(decodeDer))),
    setOf(signerInfo),
  );
  return sequence(oid(signedData), explicit(0, body));
}

/**
 * Parses a message and verifies its signature with the certificate. Throws `RangeError` if `message` is not a
 * SignedData.
 */
export function verifyMessage(message: Buffer, certificate: Buffer): { content: Buffer; isAuthentic: boolean } {
  const body = findDerElement(message, [0, 1, 0]).content;
  const content = findDerElement(body, [2, 1, 0]).content;
  const signature = findDerElement(body, [4, 0, 4]).content;
  return { content, isAuthentic: verify('sha256', content, new X509Certificate(certificate).publicKey, signature) };
}

const decodeDer = (base64: string): Buffer => Buffer.from(base64, 'base64');

function issuerAndSerialNumber(certificate: Buffer): Buffer {
  const body = findDerElement(certificate, [0, 0]).content;
  return sequence(findDerElement(body, [3]).raw, findDerElement(body, [1]).raw);
}
