import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

type Algorithm = 'ES256' | 'RS256';

// ES256 signatures are the raw `r || s` (RFC 7518, section 3.4). RSA ignores the encoding.
const dsaEncoding = 'ieee-p1363';

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const keyPairs = new Map<string, KeyPair>();

/** Parses a private key in PEM, each one once: that takes ten times as long as a signature. */
function parseKeyPair(pem: string): KeyPair {
  const parsed = keyPairs.get(pem);
  if (parsed) return parsed;
  const privateKey = createPrivateKey(pem);
  const keyPair = { privateKey, publicKey: createPublicKey(privateKey) };
  keyPairs.set(pem, keyPair);
  return keyPair;
}

/** Signs a JSON payload as JWS in compact serialization. `privateKey` is in PEM. */
export function signJwt(
  header: { readonly alg: Algorithm; readonly [member: string]: unknown },
  payload: object,
  privateKey: string,
): string {
  const content = `${encodePart(header)}.${encodePart(payload)}`;
  const signature = sign('sha256', Buffer.from(content), { key: parseKeyPair(privateKey).privateKey, dsaEncoding });
  return `${content}.${signature.toString('base64url')}`;
}

/** Header and payload of a JWT as JSON text. */
export interface DecodedJwt {
  readonly header: string;
  readonly payload: string;
}

/** Decodes a JWT that was signed with the private key; undefined for any other token. */
export function verifyJwt(token: string, privateKey: string): DecodedJwt | undefined {
  const [, content = '', header = '', payload = '', signature = ''] =
    /^(([\w-]+)\.([\w-]+))\.([\w-]+)$/.exec(token) ?? [];
  const key = { key: parseKeyPair(privateKey).publicKey, dsaEncoding } as const;
  const isAuthentic = verify('sha256', Buffer.from(content), key, Buffer.from(signature, 'base64url'));
  return isAuthentic ? { header: decodePart(header), payload: decodePart(payload) } : undefined;
}

const encodePart = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

const decodePart = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');
