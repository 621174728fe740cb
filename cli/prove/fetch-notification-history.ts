import * as v from 'valibot';
import { parseJson } from '../../lib/foundation/parse.ts';
import { getApiToken } from '../../lib/stores/app-store/api-token.ts';
import { getApiKey, parseStoredSettings } from '../../lib/stores/app-store/settings.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';

interface HistoryQuery {
  readonly isSandbox: boolean;
  readonly transactionId: string;
  readonly since: number;
}

const History = v.object({ notificationHistory: v.array(v.object({ signedPayload: v.string() })) });

/**
 * Fetches the signed payloads of a purchase's notifications since a time: at most 20, which one step does not exceed.
 * Returns none without an API key.
 * @see https://developer.apple.com/documentation/appstoreserverapi/get-notification-history
 */
export async function fetchNotificationHistory(
  context: StoreContext,
  { isSandbox, transactionId, since }: HistoryQuery,
): Promise<readonly string[]> {
  const settings = parseStoredSettings(context.settings);
  const key = getApiKey(settings);
  if (!key) return [];
  const host = isSandbox ? 'https://api.storekit-sandbox.apple.com' : 'https://api.storekit.apple.com';
  const response = await context.fetch(`${host}/inApps/v1/notifications/history`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await getApiToken(key, settings.bundleId, context.now())}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ startDate: since, endDate: context.now(), transactionId }),
  });
  if (response.status !== 200) return [];
  const { notificationHistory } = parseJson(History, response.text, 'ConnectionFailed');
  return notificationHistory.map(({ signedPayload }) => signedPayload);
}
