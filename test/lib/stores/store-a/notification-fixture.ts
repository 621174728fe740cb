import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type ObservedNotification, type RawNotification, StoreNotification } from '../../../../lib/stores/store.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import {
  appAppleId,
  buildRenewalPayload,
  buildTransactionPayload,
  bundleId,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import type { Pki } from '../../../../testing/apple-pki.ts';
import { signJws } from '../../../../testing/apple-signatures.ts';
import { applePki, createContext } from '../../../../testing/fake-apple.ts';

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
    signedDate: purchaseDate + 60_000,
    data: about,
    ...changes,
  };
}

/** A notification with its parts signed. */
export const notificationOf = ({ type, at = purchaseDate + 60_000, status, transaction, renewal }: Told) =>
  payloadOf(type, {
    signedDate: at,
    data: {
      ...about,
      ...(status !== undefined && { status }),
      ...(transaction && {
        signedTransactionInfo: signJws(buildTransactionPayload({ signedDate: at, ...transaction }), applePki),
      }),
      ...(renewal && { signedRenewalInfo: signJws(buildRenewalPayload({ signedDate: at, ...renewal }), applePki) }),
    },
  });

/** The notification as Apple sends it. */
export const sent = (payload: object, pki: Pki = applePki): RawNotification =>
  posted({ signedPayload: signJws(payload, pki) });

export const posted = (body: object | string): RawNotification => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
  query: {},
});

export const received = async (raw: RawNotification, changes: Partial<StoreContext> = {}) =>
  (await storeA.receive?.(raw, createContext(changes)))?.notifications ?? [];

/** What comes of a notification on its way through a queue. */
export async function noticed(
  told: Told,
  changes: Partial<StoreContext> = signatureOnly,
): Promise<ObservedNotification> {
  const [message] = await received(sent(notificationOf(told)), changes);
  const queued = v.parse(StoreNotification, JSON.parse(JSON.stringify(message)));
  const noticed = await storeA.observe?.(queued, createContext(changes));
  if (!noticed) throw new Error('store_a observes nothing');
  return noticed;
}
