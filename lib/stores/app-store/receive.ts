import * as v from 'valibot';
import { parseJson } from '../../foundation/parse.ts';
import type { RawNotification, ReceivedNotifications } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { parseNotification } from './parse-notification.ts';
import { parseStoredSettings } from './settings.ts';
import { createVerificationContext } from './verification.ts';

/** @see https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2 */
const NotificationRequestBody = v.object({ signedPayload: v.string() });

/** Verifies an App Store Server Notification V2 by its signature, without a network call. */
export async function receive({ body }: RawNotification, context: StoreContext): Promise<ReceivedNotifications> {
  const { signedPayload } = parseJson(NotificationRequestBody, body, 'Forbidden');
  const verification = createVerificationContext(parseStoredSettings(context.settings), context);
  return { notifications: [parseNotification(signedPayload, verification)] };
}
