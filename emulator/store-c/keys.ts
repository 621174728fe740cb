import { generateKeyPair, randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as v from 'valibot';

/** All secrets of the store: what its tokens are signed with, and the publisher's registration with Entra. */
export const Keys = v.object({
  privateKey: v.string(),
  /** Names the signing certificate in the header of a token. */
  thumbprint: v.string(),
  tenantId: v.string(),
  clientId: v.string(),
  clientSecret: v.string(),
});
export type Keys = v.InferOutput<typeof Keys>;

/** New keys and a new registration. */
export async function createKeys(): Promise<Keys> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    thumbprint: randomBytes(20).toString('base64url'),
    tenantId: randomUUID(),
    clientId: randomUUID(),
    clientSecret: randomBytes(30).toString('base64url'),
  };
}
