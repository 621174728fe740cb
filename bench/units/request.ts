import type { Key } from '../../lib/db/keys.ts';
import { itemReadUnits, queryUnits } from './capacity.ts';
import type { Image } from './item-size.ts';

/** A request of DynamoDB's protocol, as far as the table's calls go. */
export interface Request {
  readonly Item?: Image;
  readonly Key?: Image;
  readonly IndexName?: string;
  readonly ConsistentRead?: boolean;
  readonly TransactItems?: readonly Readonly<Record<string, Addressed>>[];
  readonly RequestItems?: Readonly<Record<string, unknown>>;
}

/** An answer to one. */
export interface Answer {
  readonly Item?: Image;
  readonly Items?: readonly Image[];
  readonly Responses?: Readonly<Record<string, readonly Image[]>>;
  readonly ConsumedCapacity?: { readonly CapacityUnits?: number } | readonly { readonly CapacityUnits?: number }[];
}

type Addressed = Pick<Request, 'Item' | 'Key'>;
interface BatchWrite {
  readonly PutRequest?: Addressed;
  readonly DeleteRequest?: Addressed;
}
interface BatchGet {
  readonly Keys: readonly Image[];
  readonly ConsistentRead?: boolean;
}

/** An item that a call writes, or whose condition a transaction checks. */
export interface Addressee {
  readonly key: Key;
  /** The item that is to be there, where the call says it whole. */
  readonly put?: Image;
}

/** The items that a call writes; none for a call that reads. */
export function writtenBy(operation: string, { TransactItems = [], RequestItems = {}, ...one }: Request): Addressee[] {
  if (operation === 'TransactWriteItems') return TransactItems.flatMap((write) => Object.values(write).map(addressee));
  if (operation === 'BatchWriteItem') {
    const writes = Object.values(RequestItems).flat() as BatchWrite[];
    return writes.map(({ PutRequest, DeleteRequest }) => addressee(PutRequest ?? DeleteRequest ?? {}));
  }
  return ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation) ? [addressee(one)] : [];
}

function addressee({ Item, Key: key = Item }: Addressed): Addressee {
  return { key: { pk: key?.pk?.S ?? '', sk: key?.sk?.S ?? '' }, ...(Item && { put: Item }) };
}

/** The read units of a call; none for one that writes. */
export function unitsRead(operation: string, request: Request, answer: Answer): number {
  const isConsistent = request.ConsistentRead ?? false;
  if (operation === 'GetItem') return itemReadUnits(answer.Item, { isConsistent });
  if (operation === 'Query') return queryUnits(answer.Items ?? [], { isConsistent });
  if (operation !== 'BatchGetItem') return 0;
  return Object.entries(request.RequestItems ?? {}).reduce((units, [table, wanted]) => {
    const { Keys, ConsistentRead = false } = wanted as BatchGet;
    const found = answer.Responses?.[table] ?? [];
    // What is not there costs as much as a small item.
    const read = Keys.map((_key, index) => itemReadUnits(found[index], { isConsistent: ConsistentRead }));
    return read.reduce((sum, one) => sum + one, units);
  }, 0);
}

/** The engine's own figure. */
export const unitsReported = ({ ConsumedCapacity = [] }: Answer): number =>
  [ConsumedCapacity].flat().reduce((units, { CapacityUnits = 0 }) => units + CapacityUnits, 0);
