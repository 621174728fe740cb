import { createPublicKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import * as v from 'valibot';

/** All secrets of the store: what it signs purchases and tokens with, and the key of the developer's service account. */
export const Keys = v.object({
  /** The private half of the licence key. */
  licensePrivateKey: v.string(),
  /** The private key of the service account. */
  accountPrivateKey: v.string(),
  accountKeyId: v.string(),
  /** The private key behind the tokens of the service account that pushes notifications. */
  pushPrivateKey: v.string(),
  pushKeyId: v.string(),
  /** Vouches for the access tokens. */
  tokenSecret: v.string(),
});
export type Keys = Readonly<v.InferOutput<typeof Keys>>;

/** The application whose purchases the store keeps. */
export const packageName = 'com.example.app';

/** The name of the developer's service account. */
export const clientEmail = 'validation@example-app.iam.gserviceaccount.com';

/** The name of the service account that pushes notifications. */
export const pushServiceAccount = 'play-notifications@example-app.iam.gserviceaccount.com';

/** Whom the tokens of pushed notifications are for. */
export const pushAudience = 'play-notifications.example.com';

/** Where an assertion is exchanged for an access token. */
export const tokenUri = 'https://oauth2.googleapis.com/token';

const rsa = (): Promise<{ privateKey: KeyObject }> => promisify(generateKeyPair)('rsa', { modulusLength: 2048 });

/** New keys. */
export async function createKeys(): Promise<Keys> {
  const [licence, account, push] = await Promise.all([rsa(), rsa(), rsa()]);
  return {
    licensePrivateKey: pem(licence.privateKey),
    accountPrivateKey: pem(account.privateKey),
    accountKeyId: randomBytes(20).toString('hex'),
    pushPrivateKey: pem(push.privateKey),
    pushKeyId: randomBytes(20).toString('hex'),
    tokenSecret: randomBytes(32).toString('base64url'),
  };
}

/** What an operator configures in the service. */
export const toSettings = (keys: Keys): Readonly<Record<string, unknown>> => ({
  packageName,
  serviceAccount: {
    type: 'service_account',
    client_email: clientEmail,
    private_key: keys.accountPrivateKey,
    private_key_id: keys.accountKeyId,
    token_uri: tokenUri,
  },
  licenseKey: createPublicKey(keys.licensePrivateKey).export({ type: 'spki', format: 'der' }).toString('base64'),
  pushAudience,
  pushServiceAccount,
});

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
