import { randomBytes, randomUUID } from 'node:crypto';
import { addPeriod } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { getStatus } from './collection-item.ts';
import { createPayment, withPayment } from './payments.ts';
import type { Account, Item, ItemKind, Product, Purchase } from './records.ts';
import { createRecurrence } from './recurrence-transitions.ts';
import { getOrCreateAccount, listPurchases, type StoreState } from './store-state.ts';

/** The development sandbox in which orders with `sandbox` are made. */
export const sandboxId = 'XDKS.1';

const usualPriceMicros = 4_990_000;
const usualTrial = 'P1M';

interface Sale {
  readonly order: PurchaseOrder;
  readonly account: Account;
  readonly product: Product;
  readonly at: number;
}

/** What the customer gets for the order: a new purchase, or more of a consumable that the store counts. */
export function purchaseProduct(state: StoreState, order: PurchaseOrder, at: number): Purchase {
  if (order.intro) throw controlError(422, 'intro: store_c has free trials but no introductory prices.');
  const product = stockedProduct(state, order);
  const account = getOrCreateAccount(state, order.applicationUsername);
  const [owned] = listPurchases(state, account, order.sandbox ? sandboxId : 'RETAIL').filter(
    (purchase) => purchase.productId === product.id && isStillOwned(purchase, at),
  );
  if (owned !== undefined) return addQuantity(owned, order, at);
  return product.type === 'paid subscription'
    ? createSubscription({ order, account, product, at })
    : createOneTimePurchase({ order, account, product, at });
}

/** What the order buys: a product that exists, or a new one of the order's terms. */
function stockedProduct(state: StoreState, order: PurchaseOrder): Product {
  const { productId: id, type, priceMicros = usualPriceMicros, currency = 'USD', period } = order;
  const known = state.products.get(id);
  if (known !== undefined) {
    if (known.type === type && (period === undefined || period === known.period)) return known;
    throw controlError(422, `${id} exists already, as a ${[known.type, known.period].join(' ').trim()}.`);
  }
  const lasts = period ?? (type.endsWith('subscription') ? 'P1M' : undefined);
  const product: Product = { id, type, priceMicros, currency, ...(lasts !== undefined && { period: lasts }) };
  state.products.set(id, product);
  return product;
}

/** Whether the customer cannot buy it anew: consumables that the store counts never end. */
function isStillOwned(purchase: Purchase, at: number): boolean {
  const { recurrence, item } = purchase;
  if (recurrence !== undefined) return recurrence.state === 'Active' || recurrence.state === 'InDunning';
  if (item.kind === 'UnmanagedConsumable' && item.quantity === 0) return false;
  return getStatus(purchase, at) === 'Active';
}

function addQuantity(owned: Purchase, { quantity = 1 }: PurchaseOrder, at: number): Purchase {
  const { id, item } = owned;
  if (item.kind !== 'Consumable') throw controlError(422, `This customer owns ${owned.productId} already, by ${id}.`);
  const more = { ...item, quantity: item.quantity + quantity, modifiedDate: at };
  return withPayment({ ...owned, item: more }, at, quantity);
}

function createSubscription({ order, account, product, at }: Sale): Purchase {
  const { trial = false } = order;
  const period = typeof trial === 'string' ? trial : trial ? (product.period ?? usualTrial) : (product.period ?? 'P1M');
  const terms = { isTrial: trial !== false, renewsAutomatically: order.autoRenew === true };
  const id = `mdr:0:${randomBytes(16).toString('hex')}:${randomUUID()}`;
  return {
    ...buildPurchase({ order, account, product, at }, newItem('Durable', at, 1)),
    id,
    recurrence: createRecurrence(at, period, terms),
  };
}

function createOneTimePurchase(sale: Sale): Purchase {
  const { order, product, at } = sale;
  const trial = order.trial === true ? usualTrial : order.trial || undefined;
  const lasts = trial ?? (product.type === 'non renewing subscription' ? product.period : undefined);
  const item = {
    ...newItem(chooseItemKind(order), at, order.quantity ?? 1),
    isTrial: trial !== undefined,
    ...(lasts !== undefined && { endDate: addPeriod(at, lasts) }),
  };
  return buildPurchase(sale, item);
}

/** A consumable that is ordered in a number is one that the store counts; else the developer manages it. */
const chooseItemKind = ({ type, quantity }: PurchaseOrder): ItemKind =>
  type !== 'consumable' ? 'Durable' : quantity === undefined ? 'UnmanagedConsumable' : 'Consumable';

const newItem = (kind: ItemKind, at: number, quantity: number): Item => ({
  id: randomUUID().replaceAll('-', ''),
  kind,
  status: 'Active',
  acquiredDate: at,
  modifiedDate: at,
  quantity,
  isTrial: false,
});

const buildPurchase = ({ order, account, product, at }: Sale, item: Item): Purchase => ({
  id: item.id,
  accountId: account.id,
  productId: product.id,
  sandboxId: order.sandbox ? sandboxId : 'RETAIL',
  item,
  payments: [createPayment(at, item.quantity)],
  consumed: {},
});
