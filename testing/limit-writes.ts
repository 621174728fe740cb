import { AsyncLocalStorage } from 'node:async_hooks';
import {
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { settingsWrites } from '../infra/settings-writes.ts';
import { listEndpointKeys } from '../infra/written-keys.ts';
import type { Contract } from '../lib/api/contract.ts';

/** A write of one item: its IAM action and its partition key. */
interface ItemWrite {
  readonly action: string;
  readonly key: string;
}

interface Caller {
  readonly contract: Contract;
  readonly denied: ItemWrite[];
}

const callers = new AsyncLocalStorage<Caller>();
let runningCount = 0;

/**
 * Runs the handler of an endpoint with the writes that its policy allows, as `infra/permissions.ts` grants them. Throws
 * if the handler attempted another write, even if it ignored the error.
 */
export async function runWithWriteLimits<T>(contract: Contract, run: () => Promise<T>): Promise<T> {
  limitDocumentClients();
  const caller: Caller = { contract, denied: [] };
  runningCount++;
  const result = await callers.run(caller, run).finally(() => {
    // On Node 20, an enabled storage slows down each promise of the process, also those of later suites.
    if (--runningCount === 0) callers.disable();
  });
  if (caller.denied.length > 0)
    throw new Error(`The policy of ${contract.id} denies ${JSON.stringify(caller.denied)}.`);
  return result;
}

/** The policy of the endpoint decides. */
export function allowsWrite(contract: Contract, { action, key }: ItemWrite): boolean {
  const { id, permissions, keyLevel } = contract;
  const settings = settingsWrites[id];
  const isChange = action !== 'BatchWriteItem';
  const keys = isChange && (settings || !permissions.includes('write')) ? [] : listEndpointKeys(contract);
  const buckets = action === 'UpdateItem' && keyLevel !== 'none' ? ['_LIMIT#*'] : [];
  const ownKeys = (settings ?? []).filter(({ actions }) => (actions as readonly string[]).includes(action));
  return [...keys, ...buckets, ...ownKeys.flatMap((write) => write.keys)].some((pattern) => matchesKey(pattern, key));
}

/** In an IAM pattern, `*` is any text. */
export function matchesKey(pattern: string, key: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.at(-1);
  if (last === undefined) return key === first;
  let position = first.length;
  for (const part of rest.slice(0, -1)) {
    const index = key.indexOf(part, position);
    if (index < 0) return false;
    position = index + part.length;
  }
  return key.startsWith(first) && key.endsWith(last) && key.length - last.length >= position;
}

type Send = (this: DynamoDBDocumentClient, command: object, ...rest: unknown[]) => Promise<unknown>;
const limited = new WeakSet<Send>();

/** Wraps `send` again if another helper has replaced it since. */
function limitDocumentClients(): void {
  const prototype = DynamoDBDocumentClient.prototype as unknown as { send: Send };
  const { send } = prototype;
  if (limited.has(send)) return;
  prototype.send = async function sendWithinLimits(command, ...rest) {
    const caller = callers.getStore();
    const denied = caller ? listWrites(command).filter((write) => !allowsWrite(caller.contract, write)) : [];
    if (denied.length === 0) return await send.call(this, command, ...rest);
    caller?.denied.push(...denied);
    throw Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
  };
  limited.add(prototype.send);
}

interface Keyed {
  readonly Key?: { readonly pk: string };
  readonly Item?: { readonly pk: string };
}

const getKey = ({ Key, Item }: Keyed): string => (Key ?? Item)?.pk ?? '';

function listWrites(command: object): ItemWrite[] {
  const { input } = command as { readonly input: Keyed };
  if (command instanceof PutCommand) return [{ action: 'PutItem', key: getKey(input) }];
  if (command instanceof UpdateCommand) return [{ action: 'UpdateItem', key: getKey(input) }];
  if (command instanceof DeleteCommand) return [{ action: 'DeleteItem', key: getKey(input) }];
  if (command instanceof TransactWriteCommand)
    return (command.input.TransactItems ?? []).flatMap((item) =>
      Object.entries(item).map(([kind, write]) => ({ action: `${kind}Item`, key: getKey(write as unknown as Keyed) })),
    );
  if (!(command instanceof BatchWriteCommand)) return [];
  return Object.values(command.input.RequestItems ?? {}).flatMap((requests) =>
    requests.map(({ PutRequest, DeleteRequest }) => ({
      action: 'BatchWriteItem',
      key: getKey((PutRequest ?? DeleteRequest ?? {}) as Keyed),
    })),
  );
}
