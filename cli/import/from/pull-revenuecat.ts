import { appendFile, readFile, writeFile } from 'node:fs/promises';
import pMap from 'p-map';
import * as v from 'valibot';
import { ServiceError } from '../../../lib/foundation/errors.ts';
import { parseJson } from '../../../lib/foundation/parse.ts';
import { isAnonymous } from './revenuecat.ts';
import type { RevenueCatClient } from './revenuecat-client.ts';

const NullableText = v.nullish(v.string());
const NullableNumber = v.nullish(v.number());

/** @see https://www.revenuecat.com/docs/api-v2#tag/Subscription-Data-Model */
export const Subscription = v.object({
  id: v.string(),
  product_id: NullableText,
  store: v.string(),
  environment: NullableText,
  store_subscription_identifier: NullableText,
  current_period_starts_at: NullableNumber,
  current_period_ends_at: NullableNumber,
  ends_at: NullableNumber,
  gives_access: v.boolean(),
  entitlements: v.nullish(v.object({ items: v.array(v.object({ lookup_key: v.string() })) })),
});
export const Purchase = v.object({
  id: v.string(),
  product_id: NullableText,
  store: v.string(),
  environment: NullableText,
  store_purchase_identifier: NullableText,
  purchased_at: NullableNumber,
  status: NullableText,
});

/** A customer with everything that they bought. */
export const PulledCustomer = v.object({
  id: v.string(),
  /** Ids of an anonymous customer. */
  aliases: v.array(v.string()),
  subscriptions: v.array(Subscription),
  purchases: v.array(Purchase),
});
export type PulledCustomer = v.InferOutput<typeof PulledCustomer>;

/** Customers are read concurrently. The rate of requests is limited separately. */
const concurrency = 8;
const Item = v.object({ id: v.string() });
const Projects = v.object({ items: v.array(v.object({ id: v.string(), name: NullableText })) });

export interface PullOptions {
  readonly client: RevenueCatClient;
  readonly project: string;
  /** File of the customers, one a line. */
  readonly path: string;
  readonly isResumed: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (customers: number) => void;
}

/** Returns the only project of the key. Throws `InvalidPayload` if there are several. */
export async function findProject(client: RevenueCatClient): Promise<string> {
  const { items } = await client.get('/projects', Projects);
  const [project, another] = items;
  if (project && !another) return project.id;
  const ids = items.map(({ id, name }) => `${id} (${name ?? ''})`).join(', ');
  throw new ServiceError('InvalidPayload', `Pass the project of the key as --project: ${ids || 'it has none'}.`);
}

/**
 * Writes all customers of a project to a file, in pages. A later run continues after the last complete page. Throws
 * `Conflict` if it is interrupted.
 */
export async function pullRevenueCat({ client, project, path, isResumed, signal, onProgress }: PullOptions) {
  const done = isResumed ? await readDone(path) : [];
  // The last page can be incomplete after a crash.
  await writeFile(path, done.map((line) => `${line}\n`).join(''));
  let count = done.length;
  const last = done.at(-1);
  const lastId = last === undefined ? undefined : parseJson(Item, last).id;
  const base = `/projects/${encodeURIComponent(project)}/customers`;
  const start = lastId === undefined ? base : `${base}?starting_after=${encodeURIComponent(lastId)}`;
  for await (const page of client.list(start, Item)) {
    if (signal.aborted) throw new ServiceError('Conflict', `Interrupted after ${count} customers. Pass --resume.`);
    const customers = await pMap(page, async ({ id }) => await pullCustomer(client, base, id), { concurrency });
    await appendFile(path, customers.map((customer) => `${JSON.stringify(customer)}\n`).join(''));
    count += customers.length;
    onProgress(count);
  }
}

async function pullCustomer(client: RevenueCatClient, base: string, id: string): Promise<PulledCustomer> {
  const path = `${base}/${encodeURIComponent(id)}`;
  const subscriptions = await collect(client.listOfCustomer(`${path}/subscriptions`, Subscription));
  const purchases = await collect(client.listOfCustomer(`${path}/purchases`, Purchase));
  const hasPurchases = subscriptions.length + purchases.length > 0;
  const aliases =
    hasPurchases && isAnonymous(id)
      ? (await collect(client.listOfCustomer(`${path}/aliases`, Item))).map(({ id }) => id)
      : [];
  return { id, aliases, subscriptions, purchases };
}

export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pages) items.push(...page);
  return items;
}

async function readDone(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n');
  // The text after the last line feed is a line that was not written completely.
  return lines.slice(0, -1).filter((line) => line !== '');
}

/** Reads the pulled customers. */
export const readPulledCustomers = async (path: string): Promise<readonly PulledCustomer[]> =>
  (await readDone(path)).map((line) => parseJson(PulledCustomer, line));
