import type { Asking, Store } from '../store.ts';
import { noticed } from './clawback-notice.ts';
import { consumeValidated } from './consume.ts';
import { accessToken } from './entra.ts';
import { missedClawbacks, takenClawbacks } from './missed.ts';
import { refresh } from './refresh.ts';
import { type Session, sessionOf } from './session.ts';
import { enteredSettings } from './settings.ts';
import { validate } from './validate.ts';

/** The Microsoft Store. */
export const storeC: Store = {
  platform: 'store_c',
  validate,
  checkSettings,
  afterStored: consumeValidated,
  refresh,
  observe: noticed,
  missed: missedClawbacks,
  taken: takenClawbacks,
};

async function checkSettings(asking: Asking, { askStore }: { readonly askStore: boolean }): Promise<string> {
  enteredSettings(asking.settings);
  if (!askStore) return 'The settings are complete; Microsoft was not asked.';
  await checkTokens(sessionOf(asking));
  return 'Microsoft Entra gives this application tokens for the store and tickets for StoreID keys.';
}

async function checkTokens(session: Session): Promise<void> {
  await Promise.all(
    (['services', 'collections', 'purchase'] as const).map((audience) => accessToken(session, audience)),
  );
}
