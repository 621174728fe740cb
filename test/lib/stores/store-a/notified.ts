import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Asking, type Noticed, type RawNotification, StoreMessage } from '../../../../lib/stores/store.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import { appAppleId, bought, bundleId, renewalPayload, transactionPayload } from '../../../support/apple-payloads.ts';
import type { Pki } from '../../../support/apple-pki.ts';
import { signJws } from '../../../support/apple-signatures.ts';
import { apple, asking } from '../../../support/fake-apple.ts';

/** What a notification of a test says of a purchase. */
export interface Told {
  readonly type: string;
  readonly at?: number;
  readonly status?: number;
  readonly transaction?: object;
  readonly renewal?: object;
}

/** Settings without an API key: what Apple signed is all there is. */
export const signatureOnly = { settings: { bundleId, appAppleId } };

export const about = { appAppleId, bundleId, bundleVersion: '1.2.3', environment: 'Production' };

/** The payload of a notification, by its type with the subtype after a dot. */
export function payloadOf(type: string, changes: object = {}) {
  const [notificationType, subtype] = type.split('.');
  return {
    notificationType,
    ...(subtype && { subtype }),
    notificationUUID: randomUUID(),
    version: '2.0',
    signedDate: bought + 60_000,
    data: about,
    ...changes,
  };
}

/** A notification with its parts signed. */
export const notificationOf = ({ type, at = bought + 60_000, status, transaction, renewal }: Told) =>
  payloadOf(type, {
    signedDate: at,
    data: {
      ...about,
      ...(status !== undefined && { status }),
      ...(transaction && {
        signedTransactionInfo: signJws(transactionPayload({ signedDate: at, ...transaction }), apple),
      }),
      ...(renewal && { signedRenewalInfo: signJws(renewalPayload({ signedDate: at, ...renewal }), apple) }),
    },
  });

/** The notification as Apple sends it. */
export const sent = (payload: object, pki: Pki = apple): RawNotification =>
  posted({ signedPayload: signJws(payload, pki) });

export const posted = (body: object | string): RawNotification => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
  query: {},
});

export const received = async (raw: RawNotification, changes: Partial<Asking> = {}) =>
  (await storeA.receive?.(raw, asking(changes)))?.messages ?? [];

/** What comes of a notification on its way through a queue. */
export async function noticed(told: Told, changes: Partial<Asking> = signatureOnly): Promise<Noticed> {
  const [message] = await received(sent(notificationOf(told)), changes);
  const queued = v.parse(StoreMessage, JSON.parse(JSON.stringify(message)));
  const noticed = await storeA.observe?.(queued, asking(changes));
  if (!noticed) throw new Error('store_a observes nothing');
  return noticed;
}
