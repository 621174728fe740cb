import { isDeepStrictEqual } from 'node:util';
import { customersIn } from '../db/counted-items.ts';
import type { Deps } from '../deps.ts';
import { summarize } from './summarize.ts';

/** How many customers were looked at, and how many of their summaries said something else than their purchases. */
interface Resummarized {
  readonly seen: number;
  readonly mended: number;
  /** Of the given names, those of no customer. */
  readonly unknown: readonly string[];
}

/** Customers whose summaries are worked out at the same time. */
const parallel = 8;

/**
 * Works the summaries of customers out anew, of all where no name is given. It may run beside the aggregator, and again:
 * neither writes what is older than the other's.
 */
export async function resummarize(app: string, deps: Deps, usernames: readonly string[] = []): Promise<Resummarized> {
  let seen = 0;
  let mended = 0;
  const unknown: string[] = [];
  for await (const names of usernames.length > 0 ? [usernames] : customersIn(deps.table, app)) {
    for (let start = 0; start < names.length; start += parallel) {
      const some = names.slice(start, start + parallel);
      const outcomes = await Promise.all(some.map((username) => summarize({ app, username }, deps)));
      const known = outcomes.filter((outcome) => outcome !== undefined);
      unknown.push(...some.filter((_name, index) => usernames.length > 0 && outcomes[index] === undefined));
      seen += known.length;
      mended += known.filter(({ before, after }) => !isDeepStrictEqual(before, after)).length;
    }
  }
  return { seen, mended, unknown };
}
