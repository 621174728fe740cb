import { findStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getStoreSettings } from '../../lib/stores/contract.ts';
import { loadStore } from '../../lib/stores/index.ts';
import { listSettingsFields } from '../../lib/stores/settings-form.ts';

export const handler = createHandler(getStoreSettings)(async ({ app, params: { platform } }, service) => {
  const [{ settingsForm }, stored] = await Promise.all([
    loadStore(platform),
    findStoreSettings(service, app.name, platform),
  ]);
  return { platform, fields: listSettingsFields(settingsForm, Object(stored)) };
});
