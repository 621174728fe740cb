import { randomBytes, randomUUID } from 'node:crypto';
import { addPeriod } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { defaultPriceMicros, findProduct, type Product } from '../product.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { getStatus } from './collection-item.ts';
import { createPayment, withPayment } from './payments.ts';
import type { Account, Item, ItemKind, Purchase } from './records.ts';
import { createRecurrence } from './recurrence-transitions.ts';
import { getOrCreateAccount, listPurchases, type StoreState } from './store-state.ts';

/** Development sandbox of orders with `sandbox`. */
export const sandboxId = 'XDKS.1';

const defaultTrial = 'P1M';

interface Sale {
  readonly order: PurchaseOrder;
  readonly account: Account;
  readonly product: Product;
  readonly at: number;
}

/** Executes an order: creates a purchase, or increases the balance of a store-managed consumable. */
export function purchaseProduct(state: StoreState, order: PurchaseOrder, at: number): Purchase {
  if (order.intro) throw controlError(422, 'intro: store_c has free trials but no introductory prices.');
  const product = getOrCreateProduct(state, order);
  const account = getOrCreateAccount(state, order.applicationUsername);
  const [owned] = listPurchases(state, account, order.sandbox ? sandboxId : 'RETAIL').filter(
    (purchase) => purchase.productId === product.id && isStillOwned(purchase, at),
  );
  if (owned !== undefined) return addQuantity(owned, { order, product, at });
  return product.type === 'paid subscription'
    ? createSubscription({ order, account, product, at })
    : createOneTimePurchase({ order, account, product, at });
}

/** Finds the product of an order or creates it. Defaults: 4.99 USD, monthly for subscriptions. */
function getOrCreateProduct(state: StoreState, order: PurchaseOrder): Product {
  const existing = findProduct(state.products, order);
  if (existing !== undefined) return existing;
  const { productId: id, type, priceMicros = defaultPriceMicros, currency = 'USD', period } = order;
  const productPeriod = period ?? (type.endsWith('subscription') ? 'P1M' : undefined);
  const product: Product = {
    id,
    type,
    priceMicros,
    currency,
    ...(productPeriod !== undefined && { period: productPeriod }),
  };
  state.products.set(id, product);
  return product;
}

/** The purchase prevents buying the product again. Store-managed consumables do not end. */
function isStillOwned(purchase: Purchase, at: number): boolean {
  const { recurrence, item } = purchase;
  if (recurrence !== undefined) return recurrence.state === 'Active' || recurrence.state === 'InDunning';
  if (item.kind === 'UnmanagedConsumable' && item.quantity === 0) return false;
  return getStatus(purchase, at) === 'Active';
}

function addQuantity(owned: Purchase, { order, product, at }: Omit<Sale, 'account'>): Purchase {
  const { quantity = 1 } = order;
  const { id, item } = owned;
  if (item.kind !== 'Consumable') throw controlError(422, `This customer already owns ${owned.productId} (${id}).`);
  const increased = { ...item, quantity: item.quantity + quantity, modifiedDate: at };
  return withPayment({ ...owned, item: increased }, at, { quantity, priceMicros: product.priceMicros });
}

function createSubscription({ order, account, product, at }: Sale): Purchase {
  const { trial = false } = order;
  const period = typeof trial === 'string' ? trial : (product.period ?? 'P1M');
  const terms = { isTrial: trial !== false, renewsAutomatically: order.autoRenew === true };
  const id = `mdr:0:${randomBytes(16).toString('hex')}:${randomUUID()}`;
  return {
    ...buildPurchase({ order, account, product, at }, buildItem('Durable', at, 1)),
    id,
    recurrence: createRecurrence(at, period, terms),
  };
}

function createOneTimePurchase(sale: Sale): Purchase {
  const { order, product, at } = sale;
  const trial = order.trial === true ? defaultTrial : order.trial || undefined;
  const validity = trial ?? (product.type === 'non renewing subscription' ? product.period : undefined);
  const item = {
    ...buildItem(chooseItemKind(order), at, order.quantity ?? 1),
    isTrial: trial !== undefined,
    ...(validity !== undefined && { endDate: addPeriod(at, validity) }),
  };
  return buildPurchase(sale, item);
}

/** Chooses the kind of an item. A consumable with `quantity` is store-managed, otherwise developer-managed. */
const chooseItemKind = ({ type, quantity }: PurchaseOrder): ItemKind =>
  type !== 'consumable' ? 'Durable' : quantity === undefined ? 'UnmanagedConsumable' : 'Consumable';

const buildItem = (kind: ItemKind, at: number, quantity: number): Item => ({
  id: randomUUID().replaceAll('-', ''),
  kind,
  status: 'Active',
  acquiredDate: at,
  modifiedDate: at,
  quantity,
  isTrial: false,
});

const isFree = ({ trial = false }: PurchaseOrder): boolean => trial !== false;

const buildPurchase = ({ order, account, product, at }: Sale, item: Item): Purchase => ({
  id: item.id,
  accountId: account.id,
  productId: product.id,
  country: order.country ?? 'US',
  sandboxId: order.sandbox ? sandboxId : 'RETAIL',
  item,
  payments: [createPayment(at, { quantity: item.quantity, priceMicros: isFree(order) ? 0 : product.priceMicros })],
  consumed: {},
});
