import { createPrivateKey } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';

const Text = v.pipe(v.string(), v.minLength(1));
const Key = v.pipe(v.string(), v.check(isPrivateKey, 'a private key in PEM, the content of the .p8 file'));

const hasWholeApiKey = ({ issuerId, keyId, privateKey }: Partial<ApiKey>): boolean =>
  new Set([issuerId, keyId, privateKey].map((part) => part === undefined)).size === 1;

/**
 * What an application sets for store_a. With `issuerId`, `keyId` and `privateKey` (the .p8 file) the App Store Server API
 * is asked, with `sharedSecret` verifyReceipt, with neither a receipt is only verified by its own signature.
 */
export const StoreASettings = v.pipe(
  v.object({
    bundleId: Text,
    appAppleId: v.exactOptional(v.pipe(v.number(), v.integer())),
    issuerId: v.exactOptional(Text),
    keyId: v.exactOptional(Text),
    privateKey: v.exactOptional(Key),
    sharedSecret: v.exactOptional(Text),
  }),
  v.check((settings) => hasWholeApiKey(settings), 'issuerId, keyId and privateKey together, or none of them'),
);
export type StoreASettings = v.InferOutput<typeof StoreASettings>;

function isPrivateKey(text: string): boolean {
  return /^-----BEGIN PRIVATE KEY-----\s[^-]+-----END PRIVATE KEY-----\s*$/.test(text);
}

/** What the App Store Server API is asked with. */
export interface ApiKey {
  readonly issuerId: string;
  readonly keyId: string;
  readonly privateKey: string;
}

/** The settings of an application. Throws `InvalidPayload` when it has none, `InternalError` when they are unusable. */
export function parseStoredSettings(settings: unknown): StoreASettings {
  if (settings === undefined || settings === null) throw missingSettingsError();
  const result = v.safeParse(StoreASettings, settings);
  if (result.success) return result.output;
  const cause = result.issues.map(({ message }) => message).join('; ');
  throw new ServiceError('InternalError', 'The store_a settings of this application are not usable.', { cause });
}

/** The settings as an operator enters them; the message of the `InvalidPayload` names what is wrong. */
export function parseEnteredSettings(settings: unknown): StoreASettings {
  if (settings === undefined || settings === null) throw missingSettingsError();
  const entered = parse(StoreASettings, settings);
  if (entered.privateKey !== undefined && !canSign(entered.privateKey)) {
    throw new ServiceError('InvalidPayload', 'privateKey: expected a private key of the curve P-256.');
  }
  return entered;
}

function canSign(privateKey: string): boolean {
  try {
    return createPrivateKey(privateKey).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

/** The API key among the settings, if there is one. */
export const getApiKey = ({ issuerId, keyId, privateKey }: StoreASettings): ApiKey | undefined =>
  issuerId && keyId && privateKey ? { issuerId, keyId, privateKey } : undefined;

const missingSettingsError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'This application has no store_a settings: it cannot validate store_a purchases.');
