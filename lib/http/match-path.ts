import { ServiceError } from '../shared/errors.ts';

/** A path template that fits, and the parameters it took from the path, decoded exactly once. */
export interface PathMatch {
  readonly template: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Matches the still encoded path against the templates (`/v3/customers/:applicationUsername`). A base path that a custom
 * domain puts in front and one trailing slash are tolerated. Throws `InvalidPayload` for broken percent encoding.
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
    throw new ServiceError('InvalidPayload', 'The path holds broken percent encoding.', { cause });
  }
}
