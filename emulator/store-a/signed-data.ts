import { sign } from 'node:crypto';
import type { Signer } from './keys.ts';

/** The payload as a JWS that carries its certificate chain, the form of all signed data of the store. */
export function signJws({ privateKey, chain }: Signer, payload: object): string {
  const signed = `${base64url({ alg: 'ES256', x5c: chain })}.${base64url(payload)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
