import { emulatorUrl, setClock } from '../clock.ts';
import { getSession } from '../session.ts';
import { apiError } from './api-error.ts';

/** Purchase of a store, in the terms of the store. */
export interface EmulatorPurchase {
  readonly id: string;
  readonly platform: string;
  readonly productId: string;
  readonly type: string;
  readonly state: string;
  readonly sandbox: boolean;
  readonly applicationUsername?: string;
  /** Id in the service, if it is another. */
  readonly purchaseId?: string;
}

interface EmulatorStore {
  readonly platform: string;
  readonly actions: readonly string[];
  readonly purchases: readonly Omit<EmulatorPurchase, 'platform'>[];
}

/** Time of the stores, and all their purchases. */
export interface EmulatorState {
  readonly now: string;
  /** Time of the next scheduled transition or retried notification. */
  readonly nextDueTime?: string;
  readonly platforms: readonly EmulatorStore[];
}

/** Delivery of a notification of a store to the service. */
export interface StoreNotification {
  readonly id: string;
  readonly at: string;
  /** Content in the store's format. */
  readonly native: Readonly<Record<string, unknown>>;
  readonly state: 'held' | 'waiting' | 'delivered' | 'failed';
  readonly attempts: readonly { readonly status?: number; readonly failure?: string }[];
}

/** Body of a new purchase; see docs/emulator-actions.md. */
export interface EmulatorOrder {
  readonly platform: string;
  readonly productId: string;
  readonly type: string;
  readonly applicationUsername?: string;
  readonly period?: string;
  readonly priceMicros?: number;
  readonly currency?: string;
  readonly trial?: true;
  readonly intro?: true;
  readonly pending?: true;
  readonly autoRenew?: true;
  readonly sandbox?: true;
}

/** A purchase with the body that the app posts to `/v1/validate`. */
export type EmulatorReceipt = EmulatorPurchase & { readonly validate: Readonly<Record<string, unknown>> };

export const getEmulatorState = async (signal: AbortSignal): Promise<EmulatorState> => {
  const state = await callEmulator<EmulatorState>('GET', '/control/purchases', { signal });
  setClock(state.now);
  return state;
};

/** Lists the notifications of a purchase, oldest first. */
export async function listStoreNotifications(
  { id, purchaseId }: Pick<EmulatorPurchase, 'id' | 'purchaseId'>,
  signal: AbortSignal,
): Promise<readonly StoreNotification[]> {
  const ids = purchaseId === undefined ? [id] : [id, purchaseId];
  const query = new URLSearchParams(ids.map((value) => ['purchaseId', value]));
  const { notifications } = await callEmulator<{ readonly notifications: readonly StoreNotification[] }>(
    'GET',
    `/control/notifications?${query}`,
    { signal },
  );
  return notifications;
}

export const buy = async (order: EmulatorOrder): Promise<EmulatorReceipt> =>
  await callEmulator('POST', '/control/purchases', { body: order });

/** Reads a purchase with a new receipt. */
export const getReceipt = async (id: string): Promise<EmulatorReceipt> =>
  await callEmulator('GET', `/control/purchases/${encodeURIComponent(id)}`);

/** Applies an action. Returns the purchase that results: another one if the action replaces the purchase. */
export const act = async (id: string, action: string, details: object): Promise<EmulatorPurchase> =>
  await callEmulator('POST', `/control/purchases/${encodeURIComponent(id)}/${action}`, { body: details });

/** Moves the clock of the stores and of the service: by a period such as `P1M`, or to a time. */
export async function moveClock(move: { readonly advance: string } | { readonly set: string }): Promise<void> {
  const { now } = await callEmulator<{ readonly now: string }>('POST', '/control/clock', { body: move });
  setClock(now);
}

interface CallOptions {
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** Calls the control API. Throws an `ApiError`. */
async function callEmulator<T>(method: 'GET' | 'POST', path: string, { body, signal }: CallOptions = {}): Promise<T> {
  if (method !== 'GET' && getSession()?.level !== 'secret')
    throw apiError({ status: 403, code: 'Forbidden', message: 'Only the secret key can change the stores.' });
  const response = await fetch(`${emulatorUrl}${path}`, {
    method,
    credentials: 'omit',
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw apiError({ status: 0, code: 'Unreachable', message: String(error) });
  });
  const content = (await response.json()) as { readonly message?: string };
  if (response.ok) return content as T;
  const message = content.message ?? `The emulator responded with HTTP ${response.status}.`;
  throw apiError({ status: response.status, code: 'Emulator', message });
}
