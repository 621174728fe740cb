import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';

const Text = v.pipe(v.string(), v.minLength(1));

/** A directory's id or one of its domains: it becomes a part of an address. */
const TenantId = v.pipe(v.string(), v.regex(/^[\w.-]{1,255}$/, 'a tenant id or domain'));

/** What an application sets for store_c: its registration with Microsoft Entra, associated with it in Partner Center. */
export const StoreCSettings = v.object({
  tenantId: TenantId,
  clientId: Text,
  clientSecret: Text,
  /** A development sandbox to look in for what customers do not own in retail. */
  sandboxId: v.exactOptional(Text),
  /** Whether a validated consumable is consumed at the store; when not, the application does that. */
  consume: v.exactOptional(v.boolean()),
});
export type StoreCSettings = v.InferOutput<typeof StoreCSettings>;

/** The settings of an application. Throws `InvalidPayload` when it has none, `InternalError` when they are unusable. */
export function parseStoredSettings(settings: unknown): StoreCSettings {
  if (settings === undefined || settings === null) throw missingSettingsError();
  const result = v.safeParse(StoreCSettings, settings);
  if (result.success) return result.output;
  const cause = result.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.expected}`).join('; ');
  throw new ServiceError('InternalError', 'The store_c settings of this application are not usable.', { cause });
}

/** The settings as an operator enters them; the message of the `InvalidPayload` names what is wrong. */
export function parseEnteredSettings(settings: unknown): StoreCSettings {
  if (settings === undefined || settings === null) throw missingSettingsError();
  return parse(StoreCSettings, settings);
}

const missingSettingsError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'This application has no store_c settings: it cannot validate store_c purchases.');
