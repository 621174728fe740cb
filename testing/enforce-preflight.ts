import { createRequire } from 'node:module';

/**
 * Makes the pages of jsdom ask for leave before they send JSON to another origin, as webviews do. By itself jsdom takes
 * every content type for one that needs no leave.
 */
export function enforcePreflight(): void {
  const { simpleHeaders }: { simpleHeaders: Set<string> } = createRequire(import.meta.url)(
    'jsdom/lib/jsdom/living/xhr/xhr-utils.js',
  );
  simpleHeaders.delete('content-type');
}
