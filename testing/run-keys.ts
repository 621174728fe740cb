import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { createStoreKeys, type StoreKeys } from '../emulator/store-keys.ts';

const RunKeys = v.object({
  stores: v.record(v.string(), v.unknown()),
  /** Private keys in PEM. */
  rsa: v.array(v.string()),
});
type RunKeys = v.InferOutput<typeof RunKeys>;

/** Enough for the three certificates of a chain. */
const rsaKeyCount = 3;

const generateRsaKey = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/**
 * Generates the keys that all suites of a run share and saves them in the file `TEST_KEYS_FILE`. An RSA key takes 0.2
 * s, and an emulator has six. Returns a function that deletes the file.
 */
export async function createRunKeys(): Promise<() => Promise<void>> {
  const rsa = Array.from({ length: rsaKeyCount }, () => toPem(generateRsaKey()));
  const runKeys: RunKeys = { stores: await createStoreKeys(), rsa };
  const path = join(await mkdtemp(join(tmpdir(), 'claimcheck-keys-')), 'keys.json');
  await writeFile(path, JSON.stringify(runKeys), { mode: 0o600 });
  process.env.TEST_KEYS_FILE = path;
  return async () => await rm(dirname(path), { recursive: true });
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

let runKeys: RunKeys | undefined;

function readRunKeys(): RunKeys {
  runKeys ??= v.parse(RunKeys, JSON.parse(readFileSync(process.env.TEST_KEYS_FILE ?? '', 'utf8')));
  return runKeys;
}

/** Returns the keys of the emulated stores. */
export const getStoreKeys = (): StoreKeys => readRunKeys().stores;

let usedRsaKeys = 0;

/** Creates an RSA key pair that differs from all others of the suite: first the keys of the run, then new ones. */
export function createRsaKeyPair(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const pem = readRunKeys().rsa[usedRsaKeys++];
  const privateKey = pem === undefined ? generateRsaKey() : createPrivateKey(pem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
