import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { ServiceError } from '../errors.ts';

/** Encrypts what belongs to one place of the table (`context`) and opens it only there. */
export interface Cipher {
  encrypt(text: string, context: string): Promise<string>;
  decrypt(sealed: string, context: string): Promise<string>;
}

const algorithm = 'aes-256-gcm';

/**
 * AES-256-GCM under a key derived from the master secret, which is fetched at the first use. A sealed text is
 * `<key id>.<nonce>.<tag>.<ciphertext>`; the context is authenticated with it, so that a row cannot stand in for another.
 */
export function cipherOf(fetchMasterSecret: () => Promise<string>): Cipher {
  let derived: Promise<{ id: string; key: Buffer }> | undefined;
  const masterKey = () => {
    derived ??= fetchMasterSecret().then(deriveKey);
    derived.catch(() => {
      derived = undefined;
    });
    return derived;
  };
  return {
    async encrypt(text, context) {
      const { id, key } = await masterKey();
      const nonce = randomBytes(12);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [
        id,
        nonce.toString('base64url'),
        cipher.getAuthTag().toString('base64url'),
        sealed.toString('base64url'),
      ].join('.');
    },
    async decrypt(sealed, context) {
      const { id, key } = await masterKey();
      const [keyId, nonce, tag, text] = sealed.split('.');
      if (keyId !== id || !nonce || !tag || text === undefined)
        throw new ServiceError('InternalError', 'A secret cannot be opened.');
      const decipher = createDecipheriv(algorithm, key, Buffer.from(nonce, 'base64url'))
        .setAAD(Buffer.from(context))
        .setAuthTag(Buffer.from(tag, 'base64url'));
      return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8');
    },
  };
}

function deriveKey(masterSecret: string): { id: string; key: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', masterSecret, 'claimcheck', 'secrets of the table', 36));
  return { id: bytes.subarray(32).toString('hex'), key: bytes.subarray(0, 32) };
}
