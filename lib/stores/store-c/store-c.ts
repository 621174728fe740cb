import type { Store } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { getAccessToken } from './entra.ts';
import { fulfill } from './fulfill.ts';
import { confirmEnqueued, listUndelivered } from './list-undelivered.ts';
import { observe } from './observe.ts';
import { refresh } from './refresh.ts';
import { createSession, type MicrosoftSession } from './session.ts';
import { parseEnteredSettings } from './settings.ts';
import { validate } from './validate.ts';

/** The Microsoft Store. */
export const storeC: Store = {
  platform: 'store_c',
  validate,
  checkSettings,
  fulfill,
  refresh,
  observe,
  listUndelivered,
  confirmEnqueued,
};

async function checkSettings(context: StoreContext, { callStore }: { readonly callStore: boolean }): Promise<string> {
  parseEnteredSettings(context.settings);
  if (!callStore) return 'The settings are complete; Microsoft was not asked.';
  await checkTokens(createSession(context));
  return 'Microsoft Entra gives this application tokens for the store and tickets for StoreID keys.';
}

async function checkTokens(session: MicrosoftSession): Promise<void> {
  await Promise.all(
    (['services', 'collections', 'purchase'] as const).map((audience) => getAccessToken(session, audience)),
  );
}
