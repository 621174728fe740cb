import type { Period } from './calendar.ts';
import { controlError } from './control-error.ts';

/** Returns the requested form of a `validate` body. Throws 400 if the store does not have it. */
export function parseForm<F extends string>(forms: readonly F[], form: string): F {
  const supported = forms.find((candidate) => candidate === form);
  if (supported === undefined) throw controlError(400, `form: expected one of ${forms.join(', ')}.`);
  return supported;
}

/** Builds the part of a `validate` body that identifies the customer; empty without a username. */
export const buildAdditionalData = (
  applicationUsername: string | undefined,
  toObfuscatedUsername: (username: string) => string,
): object =>
  applicationUsername === undefined
    ? {}
    : { additionalData: { applicationUsername, obfuscatedUsername: toObfuscatedUsername(applicationUsername) } };

const units: Readonly<Record<string, string>> = { D: 'Day', W: 'Week', M: 'Month', Y: 'Year' };

/** Converts a period of one unit to the members of a `validate` body; empty for other periods. */
export function toBillingPeriod(period: Period = ''): object {
  const [, count, unit = ''] = /^P(\d+)([DWMY])$/.exec(period) ?? [];
  return count === undefined ? {} : { billingPeriod: Number(count), billingPeriodUnit: units[unit] };
}
