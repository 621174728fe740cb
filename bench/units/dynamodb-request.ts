import type { Key } from '../../lib/foundation/key.ts';
import { countItemReadUnits, countQueryUnits } from './capacity.ts';
import type { ItemImage } from './item-size.ts';

/** The parts of a DynamoDB request that the table client uses. */
export interface DynamoDbRequest {
  readonly Item?: ItemImage;
  readonly Key?: ItemImage;
  readonly IndexName?: string;
  readonly ConsistentRead?: boolean;
  readonly TransactItems?: readonly Readonly<Record<string, ItemReference>>[];
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly ExpressionAttributeValues?: ItemImage;
}

export interface DynamoDbResponse {
  readonly Item?: ItemImage;
  readonly Items?: readonly ItemImage[];
  readonly Responses?: Readonly<Record<string, readonly ItemImage[]>>;
  readonly ConsumedCapacity?: { readonly CapacityUnits?: number } | readonly { readonly CapacityUnits?: number }[];
}

type ItemReference = Pick<DynamoDbRequest, 'Item' | 'Key'>;
interface BatchWrite {
  readonly PutRequest?: ItemReference;
  readonly DeleteRequest?: ItemReference;
}
interface BatchGet {
  readonly Keys: readonly ItemImage[];
  readonly ConsistentRead?: boolean;
}

/** An item that a call writes or that a transaction checks. */
export interface WrittenItem {
  readonly key: Key;
  /** The new item, if the request contains it completely. */
  readonly put?: ItemImage;
}

/** Lists the items that a call writes; empty for a read. */
export function listWrittenItems(
  operation: string,
  { TransactItems = [], RequestItems = {}, ...itemReference }: DynamoDbRequest,
): WrittenItem[] {
  if (operation === 'TransactWriteItems')
    return TransactItems.flatMap((write) => Object.values(write).map(toWrittenItem));
  if (operation === 'BatchWriteItem') {
    const writes = Object.values(RequestItems).flat() as BatchWrite[];
    return writes.map(({ PutRequest, DeleteRequest }) => toWrittenItem(PutRequest ?? DeleteRequest ?? {}));
  }
  return ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation) ? [toWrittenItem(itemReference)] : [];
}

function toWrittenItem({ Item, Key: key = Item }: ItemReference): WrittenItem {
  return { key: { pk: key?.pk?.S ?? '', sk: key?.sk?.S ?? '' }, ...(Item && { put: Item }) };
}

/** The read units of a call in one partition. */
export interface MeteredRead {
  /** Name of the index, or `table`. */
  readonly space: string;
  readonly partition: string;
  readonly units: number;
}

/** Lists the reads of a call; empty for a write. A missing item costs as much as a small item. */
export function listReads(operation: string, request: DynamoDbRequest, response: DynamoDbResponse): MeteredRead[] {
  const isConsistent = request.ConsistentRead ?? false;
  const space = request.IndexName ?? 'table';
  if (operation === 'GetItem')
    return [
      { space, partition: getPartition(request.Key), units: countItemReadUnits(response.Item, { isConsistent }) },
    ];
  if (operation === 'Query') {
    // The table client names the partition of a query `:pk`.
    const partition = request.ExpressionAttributeValues?.[':pk']?.S ?? '';
    return [{ space, partition, units: countQueryUnits(response.Items ?? [], { isConsistent }) }];
  }
  if (operation !== 'BatchGetItem') return [];
  return Object.entries(request.RequestItems ?? {}).flatMap(([table, tableRequest]) => {
    const { Keys, ConsistentRead = false } = tableRequest as BatchGet;
    const items = new Map((response.Responses?.[table] ?? []).map((item) => [toItemName(item), item]));
    return Keys.map((key) => ({
      space,
      partition: getPartition(key),
      units: countItemReadUnits(items.get(toItemName(key)), { isConsistent: ConsistentRead }),
    }));
  });
}

const getPartition = (key: ItemImage | undefined): string => key?.pk?.S ?? '';
const toItemName = ({ pk, sk }: ItemImage): string => `${pk?.S}\n${sk?.S}`;

/** Returns the units that the database engine reports. */
export const getReportedUnits = ({ ConsumedCapacity = [] }: DynamoDbResponse): number =>
  [ConsumedCapacity].flat().reduce((units, { CapacityUnits = 0 }) => units + CapacityUnits, 0);
