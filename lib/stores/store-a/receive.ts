import * as v from 'valibot';
import { parseJson } from '../../shared/parse.ts';
import type { RawNotification, ReceivedNotifications } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { parseNotification } from './parse-notification.ts';
import { parseStoredSettings } from './settings.ts';
import { createVerificationContext } from './verification.ts';

const Body = v.object({ signedPayload: v.string() });

/** Verifies an App Store Server Notification of version 2, by its signature alone. */
export async function receive({ body }: RawNotification, context: StoreContext): Promise<ReceivedNotifications> {
  const { signedPayload } = parseJson(Body, body, 'Forbidden');
  return {
    notifications: [
      parseNotification(signedPayload, createVerificationContext(parseStoredSettings(context.settings), context)),
    ],
  };
}
