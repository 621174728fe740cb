import type { Contract } from '../lib/api/contract.ts';

/** Patterns of the partition keys that a function writes, such as `*#D#*`. See lib/foundation/keys.ts. */
export type WrittenKeys = readonly string[];

/** Keys of events and their tags, which every function writes. */
export const eventKeys: WrittenKeys = ['*#E#*', '*#G#*'];
/** Keys of the activity of stores, which an event with a call of a store records. */
const activityKeys: WrittenKeys = ['*#Y', '*#Y#*'];
/** Keys of erased names, which are removed when their customer returns. */
const erasedNameKeys: WrittenKeys = ['*#X#*'];
/** Keys of purchases, of their customers, and of user aliases with unclaimed purchases. */
const purchaseKeys: WrittenKeys = ['*#P#*', '*#C#*', '*#U#*', ...erasedNameKeys];
const customerKeys: WrittenKeys = ['*#C#*'];
/** Keys of the credits that purchases give, and of the balances of customers. */
export const creditKeys: WrittenKeys = ['*#CB#*', '*#C#*'];
/** Keys of idempotent runs and of results of store adapters. */
const operationKeys: WrittenKeys = ['*#O#*'];
/** Keys of webhook deliveries, and of the health of their URLs. */
const deliveryKeys: WrittenKeys = ['*#D#*', '*#H#*'];
const accessTokenKeys: WrittenKeys = ['*#A#*'];
const refundRequestKeys: WrittenKeys = ['*#R#*'];
/** Keys of catalogues and forwards. */
const catalogueKeys: WrittenKeys = ['*#I'];
const annotationKeys: WrittenKeys = ['*#N'];
const vaultKeys: WrittenKeys = ['*#V#*'];
const priceListKeys: WrittenKeys = ['*#L#*'];
const notificationKeys: WrittenKeys = ['*#K#*'];

/** Keys of the items that endpoints write besides events. `settings-writes.ts` has the endpoints of settings. */
export const endpointKeys: Readonly<Record<string, WrittenKeys>> = {
  'validate-receipt': [...purchaseKeys, ...creditKeys, ...operationKeys, ...vaultKeys],
  'verify-purchase': purchaseKeys,
  'add-customer-purchase': purchaseKeys,
  'merge-customer': purchaseKeys,
  'get-customer-entitlements': purchaseKeys,
  'create-entitlement-token': [...purchaseKeys, '*#M'],
  'get-customer-credits': purchaseKeys,
  'spend-credits': customerKeys,
  'give-credits': customerKeys,
  'take-credits': customerKeys,
  'capture-credits': customerKeys,
  'release-credits': customerKeys,
  'create-grant': customerKeys,
  'change-grant': customerKeys,
  'revoke-grant': customerKeys,
  'refresh-purchase-now': purchaseKeys,
  'act-on-purchase': [...purchaseKeys, ...operationKeys],
  'answer-refund-request': refundRequestKeys,
  'set-refund-consent': customerKeys,
  'repeat-webhook': deliveryKeys,
  'replay-delivery': deliveryKeys,
  'replay-deliveries': deliveryKeys,
  'test-webhook': deliveryKeys,
  'set-forwards': [...catalogueKeys, '*#H#*'],
  'set-catalogue': catalogueKeys,
  'create-annotation': annotationKeys,
  'delete-annotation': annotationKeys,
  'create-checkout': [...accessTokenKeys, ...erasedNameKeys],
  'change-plan': [...accessTokenKeys, ...purchaseKeys],
  'get-processor-purchases': [...accessTokenKeys, ...purchaseKeys],
  'get-prices': priceListKeys,
  'check-store': [],
  'test-alert': [],
  // Validates a receipt.
  'sign-offer': purchaseKeys,
};

/** Keys of the items that the workers of stores write besides events. */
export const storeWorkerKeys = {
  process: [...notificationKeys, ...purchaseKeys, ...refundRequestKeys, ...priceListKeys, ...deliveryKeys],
  refresh: [...purchaseKeys, ...refundRequestKeys],
  recover: notificationKeys,
} as const satisfies Readonly<Record<string, WrittenKeys>>;

/** Completes the keys that a function with these permissions writes. */
export const completeKeys = (permissions: readonly string[], keys: WrittenKeys): WrittenKeys => [
  ...keys,
  ...eventKeys,
  ...(permissions.includes('stores') ? activityKeys : []),
];

/** Lists the keys of the items that an endpoint writes. Without a key of an app, it does not record an event. */
export const listEndpointKeys = ({ id, permissions, keyLevel }: Contract): WrittenKeys =>
  keyLevel === 'none' ? [] : completeKeys(permissions, endpointKeys[id] ?? []);
