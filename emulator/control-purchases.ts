import * as v from 'valibot';
import { type Emulator, type OpenStore, storeOf } from './emulator.ts';
import type { Call } from './http-messages.ts';
import { shown } from './journal.ts';
import { ActionDetails, Order } from './orders.ts';
import { parsedBody } from './parsed-body.ts';
import { refusal } from './refusal.ts';

const PlacedOrder = v.strictObject({ platform: v.string(), ...Order.entries });

/** `POST /control/purchases`. */
export function buy(emulator: Emulator, call: Call): object {
  const { platform, ...order } = parsedBody(PlacedOrder, call);
  const store = storeOf(emulator, platform, 400);
  return changed(emulator, store, { form: order.form, change: () => store.buy(order) });
}

/** `GET /control/purchases/{id}`. */
export function show(emulator: Emulator, { query }: Call, [id = '']: readonly string[]): object {
  return described(ownerOf(emulator, id), id, query.get('form') ?? undefined);
}

/** `POST /control/purchases/{id}/{action}`. */
export function act(emulator: Emulator, call: Call, [id = '', name = '']: readonly string[]): object {
  const store = ownerOf(emulator, id);
  const details = parsedBody(ActionDetails, call);
  const action = Object.hasOwn(store.actions, name) ? store.actions[name] : undefined;
  if (action === undefined) {
    throw refusal(422, `${store.platform} does not know ${name}, only ${Object.keys(store.actions).join(', ')}.`);
  }
  if (details.quantity !== undefined && !(store.platform === 'store_b' && name === 'refund'))
    throw refusal(
      422,
      `quantity: only store_b refunds a part of what was bought; ${name} of ${store.platform} takes none.`,
    );
  return changed(emulator, store, { form: details.form, change: () => action(id, details) });
}

/** `POST /control/checkouts/{sessionId}/pay`. */
export function pay(emulator: Emulator, _call: Call, [sessionId = '']: readonly string[]): object {
  const { result: paid, entries } = emulator.journal.during(() => paidAt(emulator, sessionId));
  return { ...described(paid.store, paid.id), notifications: entries.map(shown) };
}

function paidAt({ stores }: Emulator, sessionId: string): { readonly store: OpenStore; readonly id: string } {
  for (const store of stores) {
    const id = store.payCheckout?.(sessionId);
    if (id !== undefined) return { store, id };
  }
  throw refusal(404, `There is no checkout session ${sessionId}.`);
}

interface Changing {
  readonly form: string | undefined;
  /** Gives the id of the purchase to show. */
  readonly change: () => string;
}

function changed({ journal }: Emulator, store: OpenStore, { form, change }: Changing): object {
  const { result, entries } = journal.during(change);
  return { ...described(store, result, form), notifications: entries.map(shown) };
}

function described(store: OpenStore, id: string, form?: string): object {
  return { ...store.find(id), platform: store.platform, validate: store.validateBody(id, form) };
}

function ownerOf({ stores }: Emulator, id: string): OpenStore {
  const store = stores.find((one) => one.find(id) !== undefined);
  if (store === undefined) throw refusal(404, `There is no purchase ${id}.`);
  return store;
}
