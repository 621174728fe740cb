import type { RawNotification, ReceivedNotifications } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { parseNotification } from './parse-notification.ts';
import { verifyPushToken } from './push-token.ts';
import { parseStoredSettings } from './settings.ts';

/** Verifies and parses a real-time developer notification that Pub/Sub pushes. */
export async function receive(raw: RawNotification, context: StoreContext): Promise<ReceivedNotifications> {
  const settings = parseStoredSettings(context.settings);
  await verifyPushToken(raw, settings, context);
  const notification = parseNotification(raw.body, settings.packageName);
  return { notifications: notification ? [notification] : [] };
}
