import { createRequire } from 'node:module';

/**
 * Makes jsdom send a CORS preflight request before a cross-origin request with JSON, as webviews do. By default jsdom
 * treats every content type as safelisted.
 * @see https://fetch.spec.whatwg.org/#cors-safelisted-request-header
 */
export function enforcePreflight(): void {
  const { simpleHeaders }: { simpleHeaders: Set<string> } = createRequire(import.meta.url)(
    'jsdom/lib/jsdom/living/xhr/xhr-utils.js',
  );
  simpleHeaders.delete('content-type');
}
