import { createPublicKey, sign, verify } from 'node:crypto';
import type { Keys } from './keys.ts';

/** A token with these claims, signed with RS256. */
export function signToken({ privateKey, thumbprint }: Keys, claims: object): string {
  const content = `${encodePart({ typ: 'JWT', alg: 'RS256', x5t: thumbprint })}.${encodePart(claims)}`;
  return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`;
}

/** The claims of a token that these keys signed; undefined for anything else. */
export function verifyToken({ privateKey }: Keys, token: string): unknown {
  const [, content = '', body = '', signature = ''] = /^([\w-]+\.([\w-]+))\.([\w-]+)$/.exec(token) ?? [];
  const isOurs = verify(
    'sha256',
    Buffer.from(content),
    createPublicKey(privateKey),
    Buffer.from(signature, 'base64url'),
  );
  return isOurs ? JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) : undefined;
}

const encodePart = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
