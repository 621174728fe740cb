import { createPrivateKey } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { createSettingsParsers, describeKeyFault } from '../settings.ts';
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

export const { parseStoredSettings, parseEnteredSettings } = createSettingsParsers(
  platformTokens.googlePlay,
  GooglePlaySettings,
  requireValidKeys,
);

function requireValidKeys({ licenseKey, serviceAccount }: GooglePlaySettings): void {
  if (licenseKey !== undefined && !isLicenseKey(licenseKey)) {
    throw new ServiceError('InvalidPayload', 'licenseKey must be the base64 text from the Play Console.');
  }
  const privateKey = serviceAccount?.private_key;
  if (privateKey !== undefined && !isRsaKey(privateKey)) {
    const fault = describeKeyFault(privateKey);
    throw new ServiceError(
      'InvalidPayload',
      `serviceAccount.private_key: expected a complete RSA private key in PEM${fault}.`,
    );
  }
}

function isRsaKey(privateKey: string): boolean {
  try {
    return createPrivateKey(privateKey).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
