import { createPrivateKey } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { describeKeyFault, parseEntered, parseStored } from '../settings.ts';
import type { SettingsForm } from '../settings-form.ts';
import { isLicenseKey } from './license-key.ts';

const Text = v.pipe(v.string(), v.minLength(1));

const ServiceAccountKey = v.object({
  client_email: v.pipe(v.string(), v.trim(), v.email()),
  private_key: v.pipe(v.string(), v.startsWith('-----BEGIN PRIVATE KEY-----')),
  private_key_id: v.exactOptional(v.pipe(v.string(), v.trim(), v.minLength(1))),
});

/** An app's settings for Google Play. */
export const GooglePlaySettings = v.object({
  packageName: Text,
  /** JSON key file of a service account with access to the Play Console. Accepts the object or its text. */
  serviceAccount: v.exactOptional(v.union([ServiceAccountKey, v.pipe(v.string(), v.parseJson(), ServiceAccountKey)])),
  /** The app's license key in base64. It verifies the signatures of receipts. */
  licenseKey: v.exactOptional(Text),
  /** The service acknowledges stored purchases and consumes consumables. Otherwise the app does. */
  acknowledge: v.exactOptional(v.boolean()),
  /** Audience and service account of the OIDC tokens in the Pub/Sub push subscription. */
  pushAudience: v.exactOptional(Text),
  pushServiceAccount: v.exactOptional(v.pipe(v.string(), v.email())),
});
export type GooglePlaySettings = v.InferOutput<typeof GooglePlaySettings>;
export type ServiceAccount = v.InferOutput<typeof ServiceAccountKey>;

export const settingsForm: SettingsForm = {
  entries: GooglePlaySettings.entries,
  shown: ['packageName', 'acknowledge', 'pushAudience', 'pushServiceAccount'],
};

const format = { platform: platformTokens.googlePlay, schema: GooglePlaySettings } as const;

/** Parses the stored settings. Throws `InternalError` if they are missing or invalid. */
export const parseStoredSettings = (settings: unknown): GooglePlaySettings => parseStored(settings, format);

/** Parses settings that an operator enters. Throws `InvalidPayload` with the name of the invalid field. */
export function parseEnteredSettings(settings: unknown): GooglePlaySettings {
  const parsed = parseEntered(settings, format);
  if (parsed.licenseKey !== undefined && !isLicenseKey(parsed.licenseKey)) {
    throw new ServiceError('InvalidPayload', 'licenseKey must be the base64 text from the Play Console.');
  }
  const privateKey = parsed.serviceAccount?.private_key;
  if (privateKey !== undefined && !isRsaKey(privateKey)) {
    const fault = describeKeyFault(privateKey);
    throw new ServiceError(
      'InvalidPayload',
      `serviceAccount.private_key: expected a complete RSA private key in PEM${fault}.`,
    );
  }
  return parsed;
}

function isRsaKey(privateKey: string): boolean {
  try {
    return createPrivateKey(privateKey).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
