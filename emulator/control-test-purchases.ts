import * as v from 'valibot';
import { describePurchase } from './control-purchases.ts';
import { type Emulator, getStore, type RunningStore } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseBody } from './parse-body.ts';
import { platformTokens } from './platform.ts';
import { ProductType } from './purchase-order.ts';

/**
 * The validation of a purchase of the plugins' test platform, which has neither a store nor evidence.
 * @see https://github.com/j3k0/cordova-plugin-purchase/blob/master/api/modules/CdvPurchase.Test.md
 */
const TestValidation = v.object({
  id: v.pipe(v.string(), v.minLength(1)),
  type: ProductType,
  transaction: v.object({ type: v.literal('test'), id: v.pipe(v.string(), v.minLength(1)) }),
  additionalData: v.exactOptional(v.object({ applicationUsername: v.exactOptional(v.string()) })),
});
type TestValidation = v.InferOutput<typeof TestValidation>;

/** Ids of the purchases by transaction of a device. In memory only. */
const purchasesByTransaction = new WeakMap<Emulator, Map<string, string>>();

/**
 * `POST /control/test-purchases`: buys the product of a test purchase in the emulated App Store, once for each
 * transaction, and for a named customer once for each product that is not consumable.
 */
export function createTestPurchase(emulator: Emulator, call: HttpRequest): object {
  const validation = parseBody(TestValidation, call);
  const store = getStore(emulator, platformTokens.appStore);
  const known = purchasesByTransaction.get(emulator) ?? new Map<string, string>();
  purchasesByTransaction.set(emulator, known);
  const key = JSON.stringify([validation.transaction.id, validation.id, getUsername(validation)]);
  const purchaseId = known.get(key) ?? findOwned(store, validation) ?? placeOrder(store, validation);
  known.set(key, purchaseId);
  return describePurchase(store, purchaseId);
}

const getUsername = ({ additionalData }: TestValidation): string | undefined => additionalData?.applicationUsername;

function findOwned(store: RunningStore, validation: TestValidation): string | undefined {
  const username = getUsername(validation);
  if (username === undefined || validation.type === 'consumable') return undefined;
  const isSame = ({ productId, applicationUsername }: Readonly<Record<string, unknown>>): boolean =>
    productId === validation.id && applicationUsername === username;
  return store.purchases().find(isSame)?.id;
}

function placeOrder(store: RunningStore, validation: TestValidation): string {
  const applicationUsername = getUsername(validation);
  return store.placeOrder({
    productId: validation.id,
    type: validation.type,
    ...(applicationUsername && { applicationUsername }),
  });
}
