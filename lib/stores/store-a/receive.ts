import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import { parseJson } from '../../parse.ts';
import type { Asking, RawNotification, Received } from '../store.ts';
import { messageOf } from './notification.ts';
import { storeASettings } from './settings.ts';
import { trustOf } from './trust.ts';

const Body = v.object({ signedPayload: v.string() });

/** Verifies an App Store Server Notification of version 2, by its signature alone. */
export async function receive({ body }: RawNotification, asking: Asking): Promise<Received> {
  if (asking.settings === undefined || asking.settings === null) {
    throw new ServiceError('Forbidden', 'This application has no store_a settings: it takes no store_a notifications.');
  }
  const { signedPayload } = parseJson(Body, body, 'Forbidden');
  return { messages: [messageOf(signedPayload, trustOf(storeASettings(asking.settings), asking))] };
}
