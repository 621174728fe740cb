import type { EpochMillis } from './time.ts';

/** Kinds of items that stream workers distinguish. `other`: an item that no stream worker reads. */
export type ItemKind =
  | 'purchase'
  | 'claim'
  | 'notification'
  | 'transaction'
  | 'customer'
  | 'grant'
  | 'refundRequest'
  | 'event'
  | 'streamMarker'
  | 'other';

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
  readonly key: { readonly pk: string; readonly sk: string };
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  /** Whether DynamoDB deleted the item because its TTL had passed. */
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
