import type { DynamoDBRecord } from 'aws-lambda';
import { dayKey, monthKey } from '../db/keys.ts';
import type { Deps } from '../deps.ts';
import type { Portion } from '../stats/counter.ts';
import { type Fact, factOf, shardMark } from '../stats/facts.ts';
import { withoutHours } from '../stats/tally.ts';
import { passed } from './caught-up.ts';
import { concerned, summarize } from './summarize.ts';

/** Counters that are written at the same time. */
const parallel = 8;

/**
 * Adds what records of one shard of the table's stream tell to the days and months, each once however often and in whatever
 * portions the records come, and brings the summaries of the customers concerned up to date.
 */
export async function aggregate(records: readonly DynamoDBRecord[], shardId: string, deps: Deps): Promise<void> {
  const facts = records.map(factOf).filter((fact) => fact !== undefined);
  const shard = shardMark(shardId);
  await inTurns([...portionsOf(facts).values()], async ({ key, portions }) => {
    await deps.counters.count(key, shard, portions);
  });
  await inTurns(concerned(records), async (customer) => {
    await summarize(customer, deps);
  });
  await passed(records, deps);
}

interface Share {
  readonly key: ReturnType<typeof dayKey>;
  readonly portions: Portion[];
}

/** What each counter gets, so that each is written once for all records together. */
function portionsOf(facts: readonly Fact[]): ReadonlyMap<string, Share> {
  const shares = new Map<string, Share>();
  const give = (key: Share['key'], portion: Portion): void => {
    const name = `${key.pk}\n${key.sk}`;
    const share = shares.get(name) ?? { key, portions: [] };
    share.portions.push(portion);
    shares.set(name, share);
  };
  for (const { app, changes, ...when } of facts) {
    for (const [day, tally] of changes) {
      give(dayKey(app, day), { ...when, tally });
      give(monthKey(app, day.slice(0, 7)), { ...when, tally: withoutHours(tally) });
    }
  }
  return shares;
}

async function inTurns<T>(values: readonly T[], run: (value: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < values.length; start += parallel) {
    await Promise.all(values.slice(start, start + parallel).map(run));
  }
}
