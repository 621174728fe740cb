import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';

const Text = v.pipe(v.string(), v.minLength(1));

const ServiceAccountKey = v.object({
  client_email: v.pipe(v.string(), v.email()),
  private_key: v.pipe(v.string(), v.startsWith('-----BEGIN PRIVATE KEY-----')),
  private_key_id: v.exactOptional(Text),
});

/** What an application sets for store_b. */
export const StoreBSettings = v.object({
  packageName: Text,
  /** The JSON key file of a service account with access to the Play Console, as an object or as its text. */
  serviceAccount: v.exactOptional(v.union([ServiceAccountKey, v.pipe(v.string(), v.parseJson(), ServiceAccountKey)])),
  /** The application's licence key, base64; it checks the signature of receipts. */
  licenseKey: v.exactOptional(Text),
  /** Whether purchases are acknowledged, and consumables consumed, once they are stored. */
  acknowledge: v.exactOptional(v.boolean()),
  /** What push messages of the application's Pub/Sub subscription are signed for, and by whom. */
  pushAudience: v.exactOptional(Text),
  pushServiceAccount: v.exactOptional(v.pipe(v.string(), v.email())),
});
export type StoreBSettings = v.InferOutput<typeof StoreBSettings>;
export type ServiceAccount = v.InferOutput<typeof ServiceAccountKey>;

/** The settings of an application. Throws `InvalidPayload` when it has none or they are of another form. */
export function parseStoredSettings(settings: unknown): StoreBSettings {
  if (settings === undefined || settings === null) {
    throw new ServiceError(
      'InvalidPayload',
      'This application has no store_b settings: it cannot validate store_b purchases.',
    );
  }
  return parse(StoreBSettings, settings);
}
