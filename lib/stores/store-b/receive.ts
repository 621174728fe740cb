import { parse } from '../../parse.ts';
import type { Asking, RawNotification, Received } from '../store.ts';
import { messageOf } from './developer-notification.ts';
import { checkPushToken } from './push-token.ts';
import { StoreBSettings } from './settings.ts';

/** Verifies a real-time developer notification that Pub/Sub pushes, by Google's token in its header. */
export async function receive(raw: RawNotification, asking: Asking): Promise<Received> {
  const settings = parse(StoreBSettings, asking.settings, 'InternalError');
  await checkPushToken(raw, settings, asking);
  return { messages: [messageOf(raw.body, settings.packageName)] };
}
