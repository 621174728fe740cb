import * as v from 'valibot';
import { platformTokens } from '../../foundation/platform.ts';
import { createSettingsParsers } from '../settings.ts';
import type { SettingsForm } from '../settings-form.ts';
import type { StripePlatform } from './mapping-context.ts';

const Name = v.pipe(v.string(), v.minLength(1));

/**
 * Settings of Stripe.
 *
 * @see https://docs.stripe.com/keys
 */
export const StripeSettings = v.strictObject({
  /** A secret or restricted key of the account. */
  secretKey: v.pipe(v.string(), v.regex(/^(?:sk|rk)_[A-Za-z0-9_]{8,}$/, 'a key that starts with sk_ or rk_')),
  /** Signing secrets of the account's webhook endpoints. Two are valid during a rotation. */
  webhookSecrets: v.exactOptional(v.array(v.pipe(v.string(), v.startsWith('whsec_')))),
  /** Days of access after a failed renewal payment. */
  graceDays: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60)), 7),
  /** Id of a customer portal configuration. The default is the account's default configuration. */
  portalConfiguration: v.exactOptional(Name),
});
export type StripeSettings = v.InferOutput<typeof StripeSettings>;

export const settingsForm: SettingsForm = {
  entries: StripeSettings.entries,
  shown: ['graceDays', 'portalConfiguration'],
};

export const { parseEnteredSettings } = createSettingsParsers(platformTokens.stripe, StripeSettings);

/** Parses the stored settings. The error names the platform. */
export const parseStoredSettings = (
  settings: unknown,
  platform: StripePlatform = platformTokens.stripe,
): StripeSettings => createSettingsParsers(platform, StripeSettings).parseStoredSettings(settings);
