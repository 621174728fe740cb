import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { createCache } from './cache.ts';
import { ServiceError } from './errors.ts';
import { type EpochMillis, minuteMs } from './time.ts';

/**
 * Encrypts stored secrets. A ciphertext can be decrypted only with its `context`, which names its place in the table.
 */
export interface Cipher {
  encrypt(text: string, context: string): Promise<string>;
  decrypt(ciphertext: string, context: string): Promise<string>;
  /** Returns the text encrypted under the current master key, or undefined if it already is. */
  reencryptIfStale(ciphertext: string, context: string): Promise<string | undefined>;
}

const algorithm = 'aes-256-gcm';

/**
 * Creates an AES-256-GCM cipher with keys derived from the master secret: keys separated by white space. The first key
 * encrypts, all keys decrypt. A ciphertext is `<key id>.<nonce>.<tag>.<ciphertext>`; `context` is authenticated with
 * it.
 */
export function createCipher(fetchMasterSecret: () => Promise<string>, now: () => EpochMillis): Cipher {
  const keys = createKeyRing(fetchMasterSecret, now);
  const encrypt = async (text: string, context: string) => encryptWith(await keys.getCurrentKey(), text, context);
  const decrypt = async (text: string, context: string) => {
    const ciphertext = parseCiphertext(text);
    return decryptWith(await keys.getKey(ciphertext.keyId), ciphertext, context);
  };
  return {
    encrypt,
    decrypt,
    async reencryptIfStale(text, context) {
      const { id } = await keys.getCurrentKey();
      return parseCiphertext(text).keyId === id ? undefined : await encrypt(await decrypt(text, context), context);
    },
  };
}

interface MasterKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Master keys by id; the first one encrypts. */
type KeyRing = ReadonlyMap<string, MasterKey>;

/** Limits the fetches for ciphertexts whose key the secret does not have. */
const minRefetchIntervalMs = minuteMs;

/**
 * Fetches the master secret when a key is first needed, and again for an unknown key. Concurrent calls share a fetch.
 */
function createKeyRing(fetchMasterSecret: () => Promise<string>, now: () => EpochMillis) {
  let keyRing: Promise<KeyRing> | undefined;
  const refetches = createCache<Promise<KeyRing>>(1);
  const fetchKeyRing = async () => parseKeyRing(await fetchMasterSecret());
  const getKeyRing = () => {
    keyRing ??= fetchKeyRing().catch((error: unknown) => {
      keyRing = undefined;
      throw error;
    });
    return keyRing;
  };
  /** Keeps the current keys if the secret is unavailable. */
  const refetchKeyRing = () => {
    const time = now();
    const recent = refetches.get('keyRing', time);
    if (recent) return recent;
    const fetched = fetchKeyRing();
    refetches.set('keyRing', fetched, { now: time, usableUntil: time + minRefetchIntervalMs });
    const replaceKeyRing = () => {
      keyRing = fetched;
    };
    fetched.then(replaceKeyRing, () => undefined);
    return fetched;
  };
  return {
    async getCurrentKey(): Promise<MasterKey> {
      const [current] = (await getKeyRing()).values();
      return current ?? throwMissingKey();
    },
    async getKey(id: string): Promise<MasterKey> {
      const key = (await getKeyRing()).get(id) ?? (await refetchKeyRing()).get(id);
      return key ?? throwUndecryptable(`The master secret has no key ${id}.`);
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
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [id, ...[nonce, cipher.getAuthTag(), ciphertext].map((part) => part.toString('base64url'))].join('.');
}

function decryptWith({ key }: MasterKey, { nonce, tag, text }: Ciphertext, context: string): string {
  const decipher = createDecipheriv(algorithm, key, nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
}

function parseCiphertext(ciphertext: string): Ciphertext {
  const [keyId = '', nonce, tag, text] = ciphertext.split('.');
  if (!/^[0-9a-f]{8}$/.test(keyId) || !nonce || !tag || text === undefined)
    throwUndecryptable('The text is not a ciphertext.');
  const toBytes = (part: string) => Buffer.from(part, 'base64url');
  return { keyId, nonce: toBytes(nonce), tag: toBytes(tag), text: toBytes(text) };
}

function throwMissingKey(): never {
  throw new ServiceError('InternalError', 'The master key is missing.');
}

function throwUndecryptable(cause: string): never {
  throw new ServiceError('InternalError', 'A stored secret cannot be decrypted.', { cause });
}
