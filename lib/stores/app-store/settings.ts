import { createPrivateKey } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { createSettingsParsers, describeKeyFault } from '../settings.ts';
import type { SettingsForm } from '../settings-form.ts';
import { OfferRule } from './offer-rule.ts';

const Text = v.pipe(v.string(), v.minLength(1));
const PrivateKeyPem = v.pipe(
  v.string(),
  v.check(
    isPrivateKeyPem,
    ({ input }) => `a private key in PEM, the content of the .p8 file${describeKeyFault(input)}`,
  ),
);

const hasCompleteApiKey = ({ issuerId, keyId, privateKey }: Partial<ApiKey>): boolean =>
  new Set([issuerId, keyId, privateKey].map((part) => part === undefined)).size === 1;

/**
 * The settings of an app for the App Store. They determine how purchases are validated:
 * - `issuerId`, `keyId` and `privateKey`: by the App Store Server API.
 * - `sharedSecret`: by verifyReceipt, which Apple has deprecated.
 * - neither: by the signature of the evidence only.
 * @see https://developer.apple.com/documentation/appstoreserverapi/creating-api-keys-to-authorize-api-requests
 */
export const AppStoreSettings = v.pipe(
  v.object({
    bundleId: Text,
    /** Numeric id of the app in the App Store. If set, production data with a different id is rejected. */
    appAppleId: v.exactOptional(v.pipe(v.number(), v.integer())),
    issuerId: v.exactOptional(Text),
    keyId: v.exactOptional(v.pipe(v.string(), v.regex(/^\w+$/, 'a key id such as 2X9R4HXF34'))),
    /** The .p8 file: PKCS#8, P-256. */
    privateKey: v.exactOptional(PrivateKeyPem),
    sharedSecret: v.exactOptional(Text),
    /** Offers that the service signs for the app. */
    offers: v.exactOptional(v.pipe(v.array(OfferRule), v.maxLength(200))),
  }),
  v.check((settings) => hasCompleteApiKey(settings), 'issuerId, keyId and privateKey together, or none of them'),
);
export type AppStoreSettings = v.InferOutput<typeof AppStoreSettings>;

function isPrivateKeyPem(text: string): boolean {
  return /^-----BEGIN PRIVATE KEY-----\s[^-]+-----END PRIVATE KEY-----\s*$/.test(text);
}

/** A key for the App Store Server API. */
export interface ApiKey {
  readonly issuerId: string;
  readonly keyId: string;
  readonly privateKey: string;
}

export const settingsForm: SettingsForm = {
  entries: AppStoreSettings.pipe[0].entries,
  shown: ['bundleId', 'appAppleId', 'issuerId', 'keyId', 'offers'],
};

export const { parseStoredSettings, parseEnteredSettings } = createSettingsParsers(
  platformTokens.appStore,
  AppStoreSettings,
  requireP256Key,
);

function requireP256Key({ privateKey }: AppStoreSettings): void {
  if (privateKey === undefined || isP256Key(privateKey)) return;
  const fault = describeKeyFault(privateKey);
  throw new ServiceError('InvalidPayload', `privateKey: expected a private key of the curve P-256${fault}.`);
}

function isP256Key(privateKey: string): boolean {
  try {
    return createPrivateKey(privateKey).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

/** Returns undefined if the settings contain no API key. */
export const getApiKey = ({ issuerId, keyId, privateKey }: AppStoreSettings): ApiKey | undefined =>
  issuerId && keyId && privateKey ? { issuerId, keyId, privateKey } : undefined;
