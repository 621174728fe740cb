import * as v from 'valibot';
import { parseJson } from '../../parse.ts';
import type { Asking, RawNotification, Received } from '../store.ts';
import { messageOf } from './notification.ts';
import { storeASettings } from './settings.ts';
import { trustOf } from './trust.ts';

const Body = v.object({ signedPayload: v.string() });

/** Verifies an App Store Server Notification of version 2, by its signature alone. */
export async function receive({ body }: RawNotification, asking: Asking): Promise<Received> {
  const { signedPayload } = parseJson(Body, body, 'Forbidden');
  return { messages: [messageOf(signedPayload, trustOf(storeASettings(asking.settings), asking))] };
}
