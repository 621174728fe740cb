import type { AttributeValue as SdkAttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue } from 'aws-lambda';
import type { Key } from './key.ts';
import * as keys from './keys.ts';
import { type Item, unmarshallOptions } from './table.ts';
import type { EpochMillis } from './time.ts';

/** The types of items that stream workers read. */
const streamedItems = {
  purchase: keys.purchaseKey,
  claim: keys.claimKey,
  notification: keys.notificationKey,
  transaction: keys.transactionKey,
  customer: keys.customerKey,
  grant: keys.grantKey,
  refundRequest: keys.refundRequestKey,
  creditEntry: keys.creditEntryKey,
  event: keys.eventItemKey,
  streamMarker: keys.streamMarkerKey,
} as const;
const streamedKinds = Object.keys(streamedItems) as (keyof typeof streamedItems)[];

/** Kinds of items that stream workers distinguish. `other`: an item that no stream worker reads. */
export type ItemKind = keyof typeof streamedItems | 'other';

/** Returns the app and the kind of the item with this key. */
export function parseItemKey(key: Key): { readonly appName: string; readonly kind: ItemKind } {
  const [appName = ''] = key.pk.split('#', 1);
  return { appName, kind: streamedKinds.find((kind) => streamedItems[kind].matches(key)) ?? 'other' };
}

/** The attributes of an item, keys included. */
export type ItemImage = Readonly<Record<string, unknown>>;

/** An item of the table with its kind. */
export interface StoredItem {
  readonly kind: ItemKind;
  readonly item: ItemImage;
}

/** A change of one item in the table's stream. */
export interface StreamRecord {
  readonly appName: string;
  readonly kind: ItemKind;
  readonly key: Key;
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  /** DynamoDB deleted the item because its TTL had passed. */
  readonly isTtlDeletion: boolean;
  /** Decimal, longer than a number can represent exactly. Ordered within a shard. */
  readonly sequenceNumber: string;
  /** Time of the write on the table's clock, in whole seconds. */
  readonly writtenAt: EpochMillis;
  /** The item before the change. Undefined for an insertion. */
  readonly before?: ItemImage;
  /** The item after the change. Undefined for a deletion. */
  readonly after?: ItemImage;
}

/** What a record changes, without its position in the stream. The current item alone is the change of its insertion. */
export type ItemChange = Pick<StreamRecord, 'appName' | 'kind' | 'before' | 'after'>;

/** Converts an image of a stream record into plain values. Binary values stay Base64 text, as Lambda delivers them. */
export const unmarshallImage = (image: Readonly<Record<string, AttributeValue>>): Item =>
  unmarshall(image as Record<string, SdkAttributeValue>, unmarshallOptions);
