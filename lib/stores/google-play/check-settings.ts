import type { Store } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { evictAccessToken } from './access-token.ts';
import { connectPlay } from './connect-play.ts';
import { parseEnteredSettings } from './settings.ts';

/** Token of a purchase that does not exist: the status of the response shows whether the credentials are accepted. */
const probeToken = 'claimcheck-settings-check';

/** Checks the settings of an app. `callStore` adds a read-only call to Google Play. */
export async function checkSettings(
  context: StoreContext,
  { callStore }: Parameters<Store['checkSettings']>[1],
): Promise<string> {
  const { serviceAccount } = parseEnteredSettings(context.settings);
  if (!serviceAccount)
    return 'The format is valid. Without a service account, receipts are verified by their signatures only.';
  if (!callStore) return 'The format is valid.';
  // A cached token would hide a deleted key for up to an hour.
  evictAccessToken(serviceAccount);
  await connectPlay(context).fetchSubscription(probeToken);
  return 'Google Play accepted the service account.';
}
