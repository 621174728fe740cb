import type { Store } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { evictAccessToken, getAccessToken } from './entra.ts';
import { createSession } from './session.ts';
import { parseEnteredSettings } from './settings.ts';

/** Checks the settings of an app. `callStore` adds requests for tokens of all audiences. */
export async function checkSettings(
  context: StoreContext,
  { callStore }: Parameters<Store['checkSettings']>[1],
): Promise<string> {
  parseEnteredSettings(context.settings);
  if (!callStore) return 'The format is valid.';
  const session = createSession(context);
  const audiences = ['services', 'collections', 'purchase'] as const;
  // A cached token would hide an expired secret for up to an hour.
  for (const audience of audiences) evictAccessToken(session, audience);
  await Promise.all(audiences.map((audience) => getAccessToken(session, audience)));
  return 'Microsoft Entra ID issued access tokens and service tickets.';
}
