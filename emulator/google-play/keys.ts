import { createPublicKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import * as v from 'valibot';

/** Signing keys of the store and the key of the developer's service account. */
export const Keys = v.object({
  /** Private key (PEM) of the app's license key, which signs purchases. */
  licensePrivateKey: v.string(),
  /** Private key (PEM) of the service account. */
  accountPrivateKey: v.string(),
  accountKeyId: v.string(),
  /** Private key (PEM) for the tokens of the push service account. */
  pushPrivateKey: v.string(),
  pushKeyId: v.string(),
  /** HMAC key of the access tokens. */
  tokenSecret: v.string(),
});
export type Keys = Readonly<v.InferOutput<typeof Keys>>;

/** App whose purchases the emulated store has. */
export const packageName = 'com.example.app';

/** Email address of the developer's service account. */
export const clientEmail = 'validation@example-app.iam.gserviceaccount.com';

/** Email address of the service account for push requests. */
export const pushServiceAccount = 'play-notifications@example-app.iam.gserviceaccount.com';

/** Audience of the tokens of push requests. */
export const pushAudience = 'play-notifications.example.com';

/** URL that exchanges an assertion for an access token. */
export const tokenUri = 'https://oauth2.googleapis.com/token';

const generateRsaPair = (): Promise<{ privateKey: KeyObject }> =>
  promisify(generateKeyPair)('rsa', { modulusLength: 2048 });

/** Generates the keys. */
export async function createKeys(): Promise<Keys> {
  const [license, account, push] = await Promise.all([generateRsaPair(), generateRsaPair(), generateRsaPair()]);
  return {
    licensePrivateKey: toPem(license.privateKey),
    accountPrivateKey: toPem(account.privateKey),
    accountKeyId: randomBytes(20).toString('hex'),
    pushPrivateKey: toPem(push.privateKey),
    pushKeyId: randomBytes(20).toString('hex'),
    tokenSecret: randomBytes(32).toString('base64url'),
  };
}

/** Builds the settings that an operator configures in the service. */
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

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
