import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { ServiceError } from './errors.ts';
import type { EpochMillis } from './time.ts';

/** Encrypts what belongs to one place of the table (`context`) and opens it only there. */
export interface Cipher {
  encrypt(text: string, context: string): Promise<string>;
  decrypt(sealed: string, context: string): Promise<string>;
  /** The text sealed under the first key; undefined when it is already. */
  reencryptIfStale(sealed: string, context: string): Promise<string | undefined>;
}

const algorithm = 'aes-256-gcm';

/**
 * AES-256-GCM under keys derived from the master secret: a list of keys with white space between them, the first of which
 * encrypts while all open. It is fetched at the first use, and again for a text of a key that it did not have. A sealed
 * text is `<key id>.<nonce>.<tag>.<ciphertext>`; the context is authenticated with it, so that a row cannot stand in for
 * another.
 */
export function createCipher(fetchMasterSecret: () => Promise<string>, now: () => EpochMillis): Cipher {
  const keys = createKeyRing(fetchMasterSecret, now);
  const encrypt = async (text: string, context: string) => encryptWith(await keys.first(), text, context);
  const decrypt = async (text: string, context: string) => {
    const sealed = parseCiphertext(text);
    return decryptWith(await keys.named(sealed.keyId), sealed, context);
  };
  return {
    encrypt,
    decrypt,
    async reencryptIfStale(text, context) {
      const { id } = await keys.first();
      return parseCiphertext(text).keyId === id ? undefined : await encrypt(await decrypt(text, context), context);
    },
  };
}

interface MasterKey {
  readonly id: string;
  readonly key: Buffer;
}

/** By id; the first one encrypts. */
type KeyRing = ReadonlyMap<string, MasterKey>;

/** A text of an unknown key asks for the secret again only so often, however many there are. */
const minRefetchIntervalMs = 60_000;

/** The keys of the secret, fetched when they are needed: once for calls that come together. */
function createKeyRing(fetchMasterSecret: () => Promise<string>, now: () => EpochMillis) {
  let keyRing: Promise<KeyRing> | undefined;
  let refetched: { readonly askedAt: EpochMillis; readonly ring: Promise<KeyRing> } | undefined;
  const fetchKeyRing = async () => parseKeyRing(await fetchMasterSecret());
  const ring = () => {
    keyRing ??= fetchKeyRing().catch((error: unknown) => {
      keyRing = undefined;
      throw error;
    });
    return keyRing;
  };
  /** A secret that cannot be fetched now leaves the ring as it is. */
  const refetchKeyRing = () => {
    const age = refetched && now() - refetched.askedAt;
    if (refetched && age !== undefined && age >= 0 && age < minRefetchIntervalMs) return refetched.ring;
    const fresh = fetchKeyRing();
    refetched = { askedAt: now(), ring: fresh };
    const take = () => {
      keyRing = fresh;
    };
    fresh.then(take, () => undefined);
    return fresh;
  };
  return {
    async first(): Promise<MasterKey> {
      const [first] = (await ring()).values();
      return first ?? throwMissingKey();
    },
    async named(id: string): Promise<MasterKey> {
      const present = await ring();
      return (
        present.get(id) ?? (await refetchKeyRing()).get(id) ?? throwUndecryptable(`The master secret has no key ${id}.`)
      );
    },
  };
}

function parseKeyRing(masterSecret: string): KeyRing {
  const keys = masterSecret.split(/\s+/).filter((key) => key !== '');
  if (keys.length === 0) throwMissingKey();
  return new Map(keys.map(deriveKey).map((key) => [key.id, key]));
}

function deriveKey(secret: string): MasterKey {
  const bytes = Buffer.from(hkdfSync('sha256', secret, 'claimcheck', 'secrets of the table', 36));
  return { id: bytes.subarray(32).toString('hex'), key: bytes.subarray(0, 32) };
}

interface Ciphertext {
  readonly keyId: string;
  readonly nonce: Buffer;
  readonly tag: Buffer;
  readonly text: Buffer;
}

function encryptWith({ id, key }: MasterKey, text: string, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [id, ...[nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))].join('.');
}

function decryptWith({ key }: MasterKey, { nonce, tag, text }: Ciphertext, context: string): string {
  const decipher = createDecipheriv(algorithm, key, nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
}

function parseCiphertext(sealed: string): Ciphertext {
  const [keyId = '', nonce, tag, text] = sealed.split('.');
  if (!/^[0-9a-f]{8}$/.test(keyId) || !nonce || !tag || text === undefined) throwUndecryptable('It is no sealed text.');
  const bytes = (part: string) => Buffer.from(part, 'base64url');
  return { keyId, nonce: bytes(nonce), tag: bytes(tag), text: bytes(text) };
}

function throwMissingKey(): never {
  throw new ServiceError('InternalError', 'The master key is missing.');
}

function throwUndecryptable(cause: string): never {
  throw new ServiceError('InternalError', 'A secret cannot be opened.', { cause });
}
