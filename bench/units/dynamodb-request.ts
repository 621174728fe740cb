import type { Key } from '../../lib/db/keys.ts';
import { countItemReadUnits, countQueryUnits } from './capacity.ts';
import type { ItemImage } from './item-size.ts';

/** A request of DynamoDB's protocol, as far as the table's calls go. */
export interface DynamoDbRequest {
  readonly Item?: ItemImage;
  readonly Key?: ItemImage;
  readonly IndexName?: string;
  readonly ConsistentRead?: boolean;
  readonly TransactItems?: readonly Readonly<Record<string, ItemReference>>[];
  readonly RequestItems?: Readonly<Record<string, unknown>>;
}

/** An answer to one. */
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

/** An item that a call writes, or whose condition a transaction checks. */
export interface WrittenItem {
  readonly key: Key;
  /** The item that is to be there, where the call says it whole. */
  readonly put?: ItemImage;
}

/** The items that a call writes; none for a call that reads. */
export function listWrittenItems(
  operation: string,
  { TransactItems = [], RequestItems = {}, ...one }: DynamoDbRequest,
): WrittenItem[] {
  if (operation === 'TransactWriteItems') return TransactItems.flatMap((write) => Object.values(write).map(addressee));
  if (operation === 'BatchWriteItem') {
    const writes = Object.values(RequestItems).flat() as BatchWrite[];
    return writes.map(({ PutRequest, DeleteRequest }) => addressee(PutRequest ?? DeleteRequest ?? {}));
  }
  return ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation) ? [addressee(one)] : [];
}

function addressee({ Item, Key: key = Item }: ItemReference): WrittenItem {
  return { key: { pk: key?.pk?.S ?? '', sk: key?.sk?.S ?? '' }, ...(Item && { put: Item }) };
}

/** The read units of a call; none for one that writes. */
export function countReadUnits(operation: string, request: DynamoDbRequest, response: DynamoDbResponse): number {
  const isConsistent = request.ConsistentRead ?? false;
  if (operation === 'GetItem') return countItemReadUnits(response.Item, { isConsistent });
  if (operation === 'Query') return countQueryUnits(response.Items ?? [], { isConsistent });
  if (operation !== 'BatchGetItem') return 0;
  return Object.entries(request.RequestItems ?? {}).reduce((units, [table, wanted]) => {
    const { Keys, ConsistentRead = false } = wanted as BatchGet;
    const found = response.Responses?.[table] ?? [];
    // What is not there costs as much as a small item.
    const read = Keys.map((_key, index) => countItemReadUnits(found[index], { isConsistent: ConsistentRead }));
    return read.reduce((sum, one) => sum + one, units);
  }, 0);
}

/** The engine's own figure. */
export const getReportedUnits = ({ ConsumedCapacity = [] }: DynamoDbResponse): number =>
  [ConsumedCapacity].flat().reduce((units, { CapacityUnits = 0 }) => units + CapacityUnits, 0);
