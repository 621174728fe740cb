import { unavailableError } from './api-errors.ts';
import type { ApiResult } from './store-service-api.ts';

interface Page<T> {
  readonly items: readonly T[];
  readonly continuationToken?: string | null | undefined;
}

/** A page has up to 100 items. More pages are not the purchases of one customer in one app. */
const maxPages = 100;

/**
 * Fetches the items of all pages. Throws `ConnectionFailed` if they do not end: a part does not prove what is missing.
 */
export async function fetchAllPages<T>(
  fetchPage: (continuationToken?: string) => Promise<ApiResult<Page<T>>>,
): Promise<ApiResult<T[]>> {
  const items: T[] = [];
  let continuationToken: string | undefined;
  for (let pageCount = 0; pageCount < maxPages; pageCount++) {
    const result = await fetchPage(continuationToken);
    if (result.kind !== 'found') return result;
    items.push(...result.value.items);
    continuationToken = result.value.continuationToken || undefined;
    if (continuationToken === undefined) return { kind: 'found', value: items };
  }
  throw unavailableError(`more than ${maxPages} pages`);
}
