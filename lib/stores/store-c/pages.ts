import type { Answered } from './service-call.ts';

interface Page<T> {
  readonly items: readonly T[];
  readonly continuationToken?: string | null | undefined;
}

/** A page holds 100 entries; more of them than these are some other thing than a customer's purchases of one app. */
const mostPages = 10;

/** The entries of all pages. */
export async function everyPage<T>(
  ask: (continuationToken?: string) => Promise<Answered<Page<T>>>,
): Promise<Answered<T[]>> {
  const items: T[] = [];
  let token: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const answer = await ask(token);
    if (answer.kind !== 'found') return answer;
    items.push(...answer.value.items);
    token = answer.value.continuationToken || undefined;
    if (token === undefined) break;
  }
  return { kind: 'found', value: items };
}
