import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';

const Name = v.pipe(v.string(), v.minLength(1));

/** What an operator sets for processor_a: the account, by its key, and how long a failed renewal keeps its access. */
export const ProcessorASettings = v.strictObject({
  /** A secret or restricted key of the account. */
  secretKey: v.pipe(v.string(), v.regex(/^(?:sk|rk)_[A-Za-z0-9_]{8,}$/, 'a key that starts with sk_ or rk_')),
  /** The signing secrets of the account's webhook endpoints; two are live during a rotation. */
  webhookSecrets: v.exactOptional(v.array(v.pipe(v.string(), v.startsWith('whsec_')))),
  /** Days of access after a renewal that could not be paid. */
  graceDays: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60)), 7),
  /** The configuration of the customer portal, where it is not the account's default. */
  portalConfiguration: v.exactOptional(Name),
});
export type ProcessorASettings = v.InferOutput<typeof ProcessorASettings>;

/** The settings; throws `InternalError` where there are none, as callers cannot mend that. */
export function parseStoredSettings(settings: unknown): ProcessorASettings {
  if (settings === undefined) {
    throw new ServiceError(
      'InternalError',
      'This application has no settings for the processor: a configuration error.',
    );
  }
  return parse(ProcessorASettings, settings, 'InternalError');
}
