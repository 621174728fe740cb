import * as v from 'valibot';
import { getClock } from './control-clock.ts';
import { controlError } from './control-error.ts';
import { type Emulator, getStore, type RunningStore } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { toLogView } from './notification-log.ts';
import { parseBody } from './parse-body.ts';
import { platformTokens } from './platform.ts';
import { ActionBody, PurchaseOrder } from './purchase-order.ts';

const CreatePurchaseBody = v.strictObject({ platform: v.string(), ...PurchaseOrder.entries });

const stripePlatforms: readonly string[] = [platformTokens.stripe, platformTokens.serviceStripe];

/** Stores that support a member of an order. */
const orderMembers: Readonly<Partial<Record<keyof PurchaseOrder, readonly string[]>>> = {
  seats: [platformTokens.appStore],
  seatTiers: [platformTokens.appStore],
  commitment: [platformTokens.appStore],
  collection: stripePlatforms,
  daysUntilDue: stripePlatforms,
  backdate: stripePlatforms,
  metered: stripePlatforms,
  invoiceCreation: stripePlatforms,
  capture: stripePlatforms,
  taxRate: [...stripePlatforms, platformTokens.googlePlay, platformTokens.braintree],
  freeCycles: [platformTokens.braintree],
};

/** `POST /control/purchases`. */
export function createPurchase(emulator: Emulator, call: HttpRequest): object {
  const { platform, ...order } = parseBody(CreatePurchaseBody, call);
  const store = getStore(emulator, platform, 400);
  if (order.pending && !Object.hasOwn(store.actions, 'pay')) {
    throw controlError(422, `pending: ${store.platform} does not have pending purchases.`);
  }
  for (const [member, platforms] of Object.entries(orderMembers)) {
    if (order[member as keyof PurchaseOrder] !== undefined && !platforms.includes(store.platform))
      throw controlError(422, `${member}: only ${platforms.join(', ')} supports it.`);
  }
  return applyChange(emulator, store, { form: order.form, change: () => store.placeOrder(order) });
}

/** `GET /control/purchases`: returns the clock with the purchases and the actions of each store. */
export const listPurchases = (emulator: Emulator): object => ({
  ...getClock(emulator),
  platforms: emulator.stores.map(({ platform, actions, purchases }) => ({
    platform,
    actions: Object.keys(actions),
    purchases: purchases(),
  })),
});

/** `GET /control/purchases/{id}`. */
export function showPurchase(emulator: Emulator, { query }: HttpRequest, [id = '']: readonly string[]): object {
  const found = findStoreOfPurchase(emulator, id);
  return describePurchase(found.store, found.id, query.get('form') ?? undefined);
}

/** `POST /control/purchases/{id}/{action}`. */
export function applyAction(emulator: Emulator, call: HttpRequest, [path = '', name = '']: readonly string[]): object {
  const { store, id } = findStoreOfPurchase(emulator, path);
  const details = parseBody(ActionBody, call);
  const action = Object.hasOwn(store.actions, name) ? store.actions[name] : undefined;
  if (action === undefined) {
    const supported = Object.keys(store.actions).join(', ');
    throw controlError(422, `${store.platform} does not support ${name}. Supported actions: ${supported}.`);
  }
  checkRefundedPart(store, name, details);
  return applyChange(emulator, store, { form: details.form, change: () => action(id, details) });
}

/** Stores that refund a part of a payment, by the member of the body. */
const partialRefundStores: Readonly<Record<'quantity' | 'amountMicros' | 'prorated', readonly string[]>> = {
  prorated: [platformTokens.appStore, platformTokens.microsoftStore],
  quantity: [platformTokens.appStore, platformTokens.googlePlay],
  amountMicros: [
    platformTokens.appStore,
    platformTokens.googlePlay,
    platformTokens.stripe,
    platformTokens.serviceStripe,
    platformTokens.braintree,
  ],
};

/** Throws 422 if the action or the store does not support a refund of a part. */
function checkRefundedPart({ platform }: RunningStore, action: string, details: ActionBody): void {
  for (const member of ['quantity', 'amountMicros', 'prorated'] as const) {
    const supporting = partialRefundStores[member];
    const isCount = member === 'quantity' && ['refund-seats', 'add-seats', 'report-usage'].includes(action);
    const isCapture = action === 'pay' && stripePlatforms.includes(platform);
    const isAmountOfAction =
      member === 'amountMicros' && (isCapture || ['win-dispute', 'refund-outside', 'forgive'].includes(action));
    const isSupported = isCount || isAmountOfAction || (action === 'refund' && supporting.includes(platform));
    if (details[member] === undefined || isSupported) continue;
    throw controlError(
      422,
      `${member}: only refund of ${supporting.join(', ')} supports it, not ${action} of ${platform}.`,
    );
  }
}

/** `POST /control/checkouts/{sessionId}/pay`. */
export function payCheckoutSession(
  emulator: Emulator,
  _call: HttpRequest,
  [sessionId = '']: readonly string[],
): object {
  const { result: paid, entries } = emulator.notificationLog.capture(() => findPaidCheckout(emulator, sessionId));
  return { ...describePurchase(paid.store, paid.id), notifications: entries.map(toLogView) };
}

function findPaidCheckout(
  { stores }: Emulator,
  sessionId: string,
): { readonly store: RunningStore; readonly id: string } {
  for (const store of stores) {
    const id = store.payCheckout?.(sessionId);
    if (id !== undefined) return { store, id };
  }
  throw controlError(404, `There is no checkout session ${sessionId}.`);
}

interface ChangeRequest {
  readonly form: string | undefined;
  /** Applies the change and returns the id of the purchase for the response. */
  readonly change: () => string;
}

function applyChange({ notificationLog }: Emulator, store: RunningStore, { form, change }: ChangeRequest): object {
  const { result, entries } = notificationLog.capture(change);
  return { ...describePurchase(store, result, form), notifications: entries.map(toLogView) };
}

/** Describes a purchase with the body that its app posts to the validator. */
export function describePurchase(store: RunningStore, id: string, form?: string): object {
  return { ...store.findPurchase(id), platform: store.platform, validate: store.validateBody(id, form) };
}

/** Finds a purchase by its id at the store, or by its id in the service, which begins with the platform. */
function findStoreOfPurchase(
  { stores }: Emulator,
  purchaseId: string,
): { readonly store: RunningStore; readonly id: string } {
  for (const store of stores) {
    const prefix = `${store.platform}:`;
    const id = purchaseId.startsWith(prefix) ? purchaseId.slice(prefix.length) : purchaseId;
    if (store.findPurchase(id)) return { store, id };
  }
  throw controlError(404, `There is no purchase ${purchaseId}.`);
}
