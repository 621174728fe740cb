import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import { type ObservedNotification, type RawNotification, StoreNotification } from '../../../../lib/stores/store.ts';
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

/** The content of a notification that concerns a purchase. */
export interface NotificationInput {
  readonly type: string;
  readonly occurredAt?: number;
  readonly status?: number;
  readonly transaction?: object;
  readonly renewal?: object;
}

/** Settings without an API key: only signed data can be used. */
export const signatureOnly = { settings: { bundleId, appAppleId } };

export const appReference = { appAppleId, bundleId, bundleVersion: '1.2.3', environment: 'Production' };

/** Builds the payload of a notification. `type` contains the subtype after a dot. */
export function buildPayload(type: string, changes: object = {}) {
  const [notificationType, subtype] = type.split('.');
  return {
    notificationType,
    ...(subtype && { subtype }),
    notificationUUID: randomUUID(),
    version: '2.0',
    signedDate: purchaseDate + 60_000,
    data: appReference,
    ...changes,
  };
}

/** Builds the payload of a notification with signed transaction and renewal. */
export const buildPurchasePayload = ({
  type,
  occurredAt = purchaseDate + 60_000,
  status,
  transaction,
  renewal,
}: NotificationInput) =>
  buildPayload(type, {
    signedDate: occurredAt,
    data: {
      ...appReference,
      ...(status !== undefined && { status }),
      ...(transaction && {
        signedTransactionInfo: signJws(buildTransactionPayload({ signedDate: occurredAt, ...transaction }), applePki),
      }),
      ...(renewal && {
        signedRenewalInfo: signJws(buildRenewalPayload({ signedDate: occurredAt, ...renewal }), applePki),
      }),
    },
  });

/** Builds the HTTP request that delivers a notification. */
export const buildDelivery = (payload: object, pki: Pki = applePki): RawNotification =>
  buildRequest({ signedPayload: signJws(payload, pki) });

export const buildRequest = (body: object | string): RawNotification => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
  query: {},
});

export const receive = async (raw: RawNotification, changes: Partial<StoreContext> = {}) =>
  (await appStore.receive?.(raw, createContext(changes)))?.notifications ?? [];

/** Receives a notification, passes it through JSON as the queue does, and observes it. */
export async function observeNotification(
  input: NotificationInput,
  changes: Partial<StoreContext> = signatureOnly,
): Promise<ObservedNotification> {
  const [notification] = await receive(buildDelivery(buildPurchasePayload(input)), changes);
  const queued = v.parse(StoreNotification, JSON.parse(JSON.stringify(notification)));
  const observed = await appStore.observe?.(queued, createContext(changes));
  if (!observed) throw new Error('store_a does not implement observe.');
  return observed;
}
