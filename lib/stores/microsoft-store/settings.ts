import * as v from 'valibot';
import { namedRecord } from '../../foundation/named-record.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { createSettingsParsers } from '../settings.ts';
import type { SettingsForm } from '../settings-form.ts';

const Text = v.pipe(v.string(), v.minLength(1));

/** Id or domain of a directory. It becomes a segment of a URL path. */
const TenantId = v.pipe(v.string(), v.regex(/^[\w.-]{1,255}$/, 'a tenant id or domain'));

/**
 * An app's settings for store_c: its Entra application, which must be associated with the product in Partner Center.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service
 */
export const MicrosoftStoreSettings = v.object({
  tenantId: TenantId,
  clientId: Text,
  clientSecret: Text,
  /** Development sandbox to query for products that the customer does not own in retail. */
  sandboxId: v.exactOptional(Text),
  /** Store IDs of products by the developer's product id. An id that is missing here must be the Store ID itself. */
  productIds: v.exactOptional(namedRecord(Text, Text)),
  /** The service consumes validated consumables. Otherwise the app does. */
  consume: v.exactOptional(v.boolean()),
});
export type MicrosoftStoreSettings = v.InferOutput<typeof MicrosoftStoreSettings>;

export const settingsForm: SettingsForm = {
  entries: MicrosoftStoreSettings.entries,
  shown: ['tenantId', 'clientId', 'sandboxId', 'productIds', 'consume'],
};

export const { parseStoredSettings, parseEnteredSettings } = createSettingsParsers(
  platformTokens.microsoftStore,
  MicrosoftStoreSettings,
);
