import type { Key } from '../../lib/db/keys.ts';
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

/** Counts the read units of a call; 0 for a write. */
export function countReadUnits(operation: string, request: DynamoDbRequest, response: DynamoDbResponse): number {
  const isConsistent = request.ConsistentRead ?? false;
  if (operation === 'GetItem') return countItemReadUnits(response.Item, { isConsistent });
  if (operation === 'Query') return countQueryUnits(response.Items ?? [], { isConsistent });
  if (operation !== 'BatchGetItem') return 0;
  return Object.entries(request.RequestItems ?? {}).reduce((units, [table, tableRequest]) => {
    const { Keys, ConsistentRead = false } = tableRequest as BatchGet;
    const items = response.Responses?.[table] ?? [];
    // A missing item costs as much as a small item.
    const itemUnits = Keys.map((_key, index) => countItemReadUnits(items[index], { isConsistent: ConsistentRead }));
    return itemUnits.reduce((sum, value) => sum + value, units);
  }, 0);
}

/** Returns the units that the database engine reports. */
export const getReportedUnits = ({ ConsumedCapacity = [] }: DynamoDbResponse): number =>
  [ConsumedCapacity].flat().reduce((units, { CapacityUnits = 0 }) => units + CapacityUnits, 0);
