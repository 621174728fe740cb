import type { Key } from '../lib/foundation/key.ts';
import * as keys from '../lib/foundation/keys.ts';

/**
 * Places of usernames and user aliases in a type of item:
 * - `never`: in no key and no attribute.
 * - `ownPartition`: in its partition key. Erasing a customer deletes the partition.
 * - `byUser`: the item is in the index `byUser` with the username.
 * - `claims`: in the purchase item. A claim in `byUser` leads to it.
 * - `alias`: in its partition key, encoded. A purchase or the index `byUser` leads to it.
 * - `tag`: the event has the tag of the username, which leads to it.
 * - `digest`: as a digest with a secret key.
 */
type NamePlace = 'never' | 'ownPartition' | 'byUser' | 'claims' | 'alias' | 'tag' | 'digest';

type Keys = typeof keys;

/** The types of items: the members of `keys.ts` that build the key of an item. */
type ItemType = {
  [Name in keyof Keys]: Keys[Name] extends { matches(key: Key): boolean; (...parts: never[]): Key } ? Name : never;
}[keyof Keys];

/** The members of each item type that contain names. */
export const namePlaces = {
  tableVersionKey: 'never',
  appKey: 'never',
  storeSettingsKey: 'never',
  keyOwnerKey: 'never',
  catalogueKey: 'never',
  catalogueAnnouncementKey: 'never',
  forwardsKey: 'never',
  alertsKey: 'never',
  annotationKey: 'never',
  exportScheduleKey: 'never',
  tokenKeysKey: 'never',
  purchaseKey: 'claims',
  claimKey: 'byUser',
  sharedClaimKey: 'byUser',
  notificationKey: 'never',
  transactionKey: 'never',
  purchaseCreditsKey: 'claims',
  customerKey: 'ownPartition',
  nameWordKey: 'ownPartition',
  ownedPurchaseKey: 'ownPartition',
  ownedTransactionKey: 'ownPartition',
  rankKey: 'ownPartition',
  grantKey: 'ownPartition',
  mergeKey: 'byUser',
  movedClaimKey: 'ownPartition',
  creditAccountKey: 'ownPartition',
  creditEntryKey: 'ownPartition',
  creditMoveKey: 'ownPartition',
  refundConsentKey: 'ownPartition',
  aliasKey: 'alias',
  unclaimedKey: 'alias',
  mergesKey: 'never',
  accessTokenKey: 'byUser',
  vaultReferenceKey: 'never',
  vaultCustomerKey: 'never',
  erasedNameKey: 'digest',
  deliveryKey: 'byUser',
  forwardChainKey: 'never',
  webhookUrlKey: 'never',
  storeActivityKey: 'never',
  storeSampleKey: 'never',
  handledNotificationKey: 'never',
  handledNotificationPartKey: 'never',
  enqueuedNotificationKey: 'never',
  refundRequestKey: 'never',
  refundDecisionKey: 'never',
  idempotencyKey: 'never',
  storedResultKey: 'never',
  priceListKey: 'never',
  priceChangeKey: 'never',
  ratesKey: 'never',
  eventItemKey: 'tag',
  rawEventItemKey: 'tag',
  tagKey: 'tag',
  tokenBucketKey: 'never',
  dayCounterKey: 'never',
  monthCounterKey: 'never',
  countedProductKey: 'never',
  productCounterKey: 'never',
  figuresKey: 'never',
  checkpointKey: 'never',
  streamMarkerKey: 'never',
  markerLogKey: 'never',
} as const satisfies Readonly<Record<ItemType, NamePlace>>;

/** The types of items that contain names. */
export type NamingItemType = {
  [Name in ItemType]: (typeof namePlaces)[Name] extends 'never' ? never : Name;
}[ItemType];

const itemTypes: Readonly<Record<ItemType, { matches(key: Key): boolean }>> = keys;

/** Returns the types that an item with this key can have: exactly one, unless a type is missing in `keys.ts`. */
export const findItemTypes = (key: Key): ItemType[] =>
  (Object.keys(namePlaces) as ItemType[]).filter((name) => itemTypes[name].matches(key));
