import { readFileSync } from 'node:fs';
import { type Container, setContainerLookup } from '../lib/foundation/container.ts';
import { getService } from '../lib/foundation/get-service.ts';
import { awsClientOptions } from '../lib/foundation/outgoing/aws-client.ts';
import type { Service } from '../lib/foundation/service.ts';
import type { Item, Table } from '../lib/foundation/table.ts';
import { startSecretsManager } from '../local/secrets-manager.ts';
import { createTestTable } from './table.ts';
import type { RecordedAnswers, StoredBinary } from './write-stored-data.ts';

const folder = 'test/fixtures/stored-data';

/** Items of an earlier commit, and the responses of its service. */
export interface StoredData {
  readonly commit: string;
  readonly recorded: RecordedAnswers;
  readonly items: readonly Item[];
}

/**
 * The commits at which `testing/write-stored-data.ts` has written items and responses. The items of d6398d69 have
 * version 2 of the table. They lack events and deliveries, the responses that show them, and responses about claims and
 * grants.
 */
export const storedData: readonly StoredData[] = ['2c5871a5', 'd6398d69'].map((commit) => ({
  commit,
  recorded: JSON.parse(readFileSync(`${folder}/${commit}.answers.json`, 'utf8')) as RecordedAnswers,
  items: readFileSync(`${folder}/${commit}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => decodeAttributes(JSON.parse(line)) as Item),
}));

function decodeAttributes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(decodeAttributes);
  if ('$binary' in value) return new Uint8Array(Buffer.from((value as StoredBinary).$binary, 'base64'));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decodeAttributes(member)]));
}

interface StoredDataService {
  readonly service: Service;
  close(): Promise<void>;
}

/**
 * Starts the handlers on a new table with the items, at the time of the responses. `wrapTable` replaces the table of
 * the service. Replaces `Date.now` until `close`.
 */
export async function startStoredDataService(
  name: string,
  { items, recorded }: StoredData,
  wrapTable: (table: Table) => Table = (table) => table,
): Promise<StoredDataService> {
  const realNow = Date.now;
  const table = await createTestTable(name);
  await table.batchPut(items);
  const secrets = await startSecretsManager({ 'master-key': recorded.masterKey });
  Object.assign(process.env, { MASTER_KEY_ID: 'master-key', AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url });
  Date.now = () => recorded.now;
  const container: Container = { clientOptions: awsClientOptions };
  setContainerLookup(() => container);
  const own = getService();
  container.service = { ...own, table: wrapTable(own.table) };
  return {
    service: container.service,
    async close() {
      Date.now = realNow;
      await secrets.close();
    },
  };
}
