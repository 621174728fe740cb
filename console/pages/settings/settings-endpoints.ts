import type { createKey, listKeys, revokeKey } from '../../../lib/apps/api-key-contract.ts';
import type { getCatalogue, setCatalogue } from '../../../lib/apps/catalogue-contract.ts';
import type { changeApp, setWebhook, testAlert } from '../../../lib/apps/contract.ts';
import type { getStoreSettings, setStore } from '../../../lib/stores/contract.ts';
import { defineEndpoint } from '../../api/client.ts';

/** Endpoints of the settings of the app. */
export const settingsEndpoints = {
  changeApp: defineEndpoint<typeof changeApp>('PATCH', '/v3/app'),
  createKey: defineEndpoint<typeof createKey>('POST', '/v3/app/keys'),
  getCatalogue: defineEndpoint<typeof getCatalogue>('GET', '/v3/catalogue'),
  getStoreSettings: defineEndpoint<typeof getStoreSettings>('GET', '/v3/stores/:platform/settings'),
  listKeys: defineEndpoint<typeof listKeys>('GET', '/v3/app/keys'),
  revokeKey: defineEndpoint<typeof revokeKey>('DELETE', '/v3/app/keys/:keyId'),
  setCatalogue: defineEndpoint<typeof setCatalogue>('PUT', '/v3/catalogue'),
  setStore: defineEndpoint<typeof setStore>('PUT', '/v3/stores/:platform'),
  setWebhook: defineEndpoint<typeof setWebhook>('PUT', '/v3/app/webhooks'),
  testAlert: defineEndpoint<typeof testAlert>('POST', '/v3/app/alerts/test'),
};
