import { signJwt, verifyJwt } from '../crypto/jwt.ts';
import type { Keys } from './keys.ts';

/** Signs a token with the store's key. */
export const signToken = ({ privateKey, thumbprint }: Keys, claims: object): string =>
  signJwt({ typ: 'JWT', alg: 'RS256', x5t: thumbprint }, claims, privateKey);

/** Returns the claims of a token that was signed with the store's key; undefined for any other token. */
export function verifyToken({ privateKey }: Keys, token: string): unknown {
  const jwt = verifyJwt(token, privateKey);
  return jwt && JSON.parse(jwt.payload);
}
