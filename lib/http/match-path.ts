import { ServiceError } from '../foundation/errors.ts';

/** The matching path template and the parameters of the path, percent-decoded once. */
export interface PathMatch {
  readonly template: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Matches the percent-encoded path against the templates (`/v3/customers/:applicationUsername`). Ignores the base path
 * of a custom domain and a trailing slash. Throws `InvalidPayload` for invalid percent encoding.
 */
export function matchPath(templates: readonly string[], encodedPath: string): PathMatch | undefined {
  const segments = splitSegments(encodedPath);
  for (const template of templates) {
    const params = matchSegments(splitSegments(template), segments);
    if (params) return { template, params };
  }
  return undefined;
}

const splitSegments = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

function matchSegments(template: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  const tail = path.slice(-template.length);
  if (tail.length !== template.length) return undefined;
  const fits = template.every((segment, index) => segment.startsWith(':') || segment === tail[index]);
  if (!fits) return undefined;
  const params = template.flatMap((segment, index) =>
    segment.startsWith(':') ? [[segment.slice(1), decodeSegment(tail[index] ?? '')]] : [],
  );
  return Object.fromEntries(params);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new ServiceError('InvalidPayload', 'The path has invalid percent encoding.', { cause });
  }
}
