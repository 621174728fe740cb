import type { AllowedWrite } from './permissions.ts';

const updatesApp: AllowedWrite = { actions: ['UpdateItem'], keys: ['APP#*'] };

/**
 * The endpoints that write the items of an app and of its API keys, with all their writes except events. A pattern of a
 * policy cannot be limited to one app, so no other endpoint writes them. See docs/decisions/table.md.
 */
export const settingsWrites: Readonly<Record<string, readonly AllowedWrite[]>> = {
  'change-app': [updatesApp],
  // Deletes expired keys.
  'create-key': [updatesApp, { actions: ['PutItem', 'DeleteItem'], keys: ['_KEY#*'] }],
  'revoke-key': [updatesApp, { actions: ['PutItem', 'DeleteItem'], keys: ['_KEY#*'] }],
  // Enables the URLs again.
  'set-webhook': [updatesApp, { actions: ['UpdateItem'], keys: ['*#H#*'] }],
  'set-store': [{ actions: ['PutItem'], keys: ['APP#*'] }],
};
