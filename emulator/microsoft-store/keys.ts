import { generateKeyPair, randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as v from 'valibot';

/** Signing key of the store and the publisher's app registration in Entra. */
export const Keys = v.object({
  privateKey: v.string(),
  /** Thumbprint of the signing certificate (`x5t` in token headers). */
  thumbprint: v.string(),
  tenantId: v.string(),
  clientId: v.string(),
  clientSecret: v.string(),
});
export type Keys = v.InferOutput<typeof Keys>;

/** Generates the keys and the app registration. */
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
