import type { ApiResult } from './store-service-api.ts';

interface Page<T> {
  readonly items: readonly T[];
  readonly continuationToken?: string | null | undefined;
}

/** A page holds 100 entries; more of them than these are some other thing than a customer's purchases of one app. */
const maxPages = 10;

/** The entries of all pages. */
export async function fetchAllPages<T>(
  fetchPage: (continuationToken?: string) => Promise<ApiResult<Page<T>>>,
): Promise<ApiResult<T[]>> {
  const items: T[] = [];
  let token: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const response = await fetchPage(token);
    if (response.kind !== 'found') return response;
    items.push(...response.value.items);
    token = response.value.continuationToken || undefined;
    if (token === undefined) break;
  }
  return { kind: 'found', value: items };
}
